/* Processes: each way to start one, and to become another program. */
#include "ran.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int deep(int n)
{
    RAN;
    pid_t child = fork();
    if (child == 0) {
        RAN;
        n++;
    } else {
        RAN;
        waitpid(child, NULL, 0);
    }
    RAN;
    return child == 0;
}

static int child_work(int n)
{
    if (n > 1)
        RAN;
    RAN;
    return 0;
}

static int spawn(char *self)
{
    pid_t child = fork();
    if (child == 0) {
        RAN;
        execl(self, self, "child", (char *)NULL);
        RAN;
        exit(1);
    }
    waitpid(child, NULL, 0);
    return 0;
}

static int borrow(char *self)
{
    pid_t child = vfork();
    if (child == 0) {
        RAN;
        execl(self, self, "child", (char *)NULL);
        _exit(1);
    }
    RAN;
    waitpid(child, NULL, 0);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "child"))
        return child_work(2);
    if (!strcmp(what, "fork")) {
        if (deep(argc))
            return child_work(1);
        RAN;
    } else if (!strcmp(what, "exec"))
        return spawn(argv[0]);
    else if (!strcmp(what, "vfork"))
        return borrow(argv[0]);
    else if (!strcmp(what, "missing")) {
        execl("/nonexistent", "nonexistent", (char *)NULL);
        RAN;
    } else if (!strcmp(what, "become"))
        execl(argv[0], argv[0], "child", (char *)NULL);
    RAN;
    return 0;
}
