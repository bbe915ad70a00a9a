/* Ends in the way that its argument names, after it has counted. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int before(int x) {
    if (x % 2)
        return x;
    return x / 2;
}

__attribute__((noinline)) static int in_child(int x) { return x + 1; }

__attribute__((noinline)) static int in_parent(int x) { return x + 2; }

__attribute__((noinline)) static int after_exec(int x) { return x + 3; }

/* The child leaves by one return, the parent by the other. */
__attribute__((noinline)) static int splits(void) {
    pid_t child = fork();
    if (child == 0)
        return in_child(1);
    waitpid(child, NULL, 0);
    return in_parent(1);
}

int main(int argc, char **argv) {
    int sum = 0;
    const char *how = argc > 1 ? argv[1] : "return";
    if (!strcmp(how, "executed"))
        return after_exec(-3);
    for (int i = 0; i < 5; i++)
        sum += before(i);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        *(volatile int *)8 = sum;
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "fork"))
        return splits() == 99;
    if (!strcmp(how, "exec"))
        execl(argv[0], argv[0], "executed", (char *)NULL);
    return sum == 99;
}
