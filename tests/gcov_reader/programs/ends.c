/* Ends of a process, chosen by the argument: which of them are recorded? */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void __gcov_dump(void);

static volatile int sink;

static void before(void) { sink = 1; }
static void child(void) { sink = 2; }
static void after(void) { sink = 3; }

__attribute__((no_profile_instrument_function)) void uncounted(void) { sink = 4; }

static void handler(int signal)
{
    (void)signal;
    exit(0);
}

static void straight(int *nowhere)
{
    if (sink)
        *nowhere = 1;
    sink = 5;
}

static void forked(const char *end)
{
    if (fork() == 0) {
        child();
        if (!strcmp(end, "_exit"))
            _exit(0);
        if (!strcmp(end, "abort"))
            abort();
        exit(0);
    }
    wait(NULL);
    after();
}

static void become_in_loop(int times, char **arguments)
{
    while (times--)
        execv("/bin/true", arguments);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "";
    char *yes[] = {"true", NULL};
    before();
    uncounted();
    if (argc > 2)
        forked(argv[2]);
    else if (!strcmp(end, "_exit"))
        _exit(0);
    else if (!strcmp(end, "_Exit"))
        _Exit(0);
    else if (!strcmp(end, "quick_exit"))
        quick_exit(0);
    else if (!strcmp(end, "abort"))
        abort();
    else if (!strcmp(end, "SEGV"))
        raise(SIGSEGV);
    else if (!strcmp(end, "TERM"))
        raise(SIGTERM);
    else if (!strcmp(end, "KILL"))
        raise(SIGKILL);
    else if (!strcmp(end, "dump")) {
        __gcov_dump();
        _exit(0);
    } else if (!strcmp(end, "exec"))
        execv("/bin/true", yes);
    else if (!strcmp(end, "exec in a loop"))
        become_in_loop(argc, yes);
    else if (!strcmp(end, "pointer")) {
        int (*volatile become)(const char *, char *const *) = execv;
        become("/bin/true", yes);
    } else if (!strcmp(end, "vfork")) {
        if (vfork() == 0) {
            execv("/bin/true", yes);
            _exit(1);
        }
        wait(NULL);
        after();
    } else if (!strcmp(end, "handler")) {
        signal(SIGSEGV, handler);
        straight(NULL);
    }
    return 0;
}
