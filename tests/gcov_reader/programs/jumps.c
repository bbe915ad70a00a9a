/* Control that leaves or comes back by other ways than return. */
#include "ran.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static jmp_buf place;

__attribute__((noreturn)) static void leave(int code)
{
    RAN;
    if (code == 9)
        exit(0);
    longjmp(place, code);
}

static int between(int n)
{
    RAN;
    if (n > 3)
        leave(n);
    RAN;
    return n;
}

static int guarded(int n)
{
    volatile int tries = 0;
    switch (setjmp(place)) {
    case 0:
        RAN;
        between(n);
        RAN;
        return 1;
    case 4:
        RAN;
        tries++;
        if (tries < 3) {
            RAN;
            leave(tries == 1 ? 4 : 5);
        }
        return 2;
    default:
        RAN;
    }
    return 3;
}

static int resumed(int n)
{
    ucontext_t context;
    volatile int rounds = 0;
    getcontext(&context);
    rounds++;
    if (rounds < 3) {
        RAN;
        setcontext(&context);
    }
    RAN;
    return n;
}

static void in_the_middle(int n)
{
    for (int i = 0; i < 10; i++) {
        RAN;
        if (i == n)
            exit(0);
        if (i == 8)
            RAN;
    }
}

static void at_exit(void)
{
    RAN;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    atexit(at_exit);
    guarded(n);
    resumed(n);
    if (argc > 2 && !strcmp(argv[2], "middle"))
        in_the_middle(n);
    RAN;
    return 0;
}
