#include "ran.h"

#include <stdlib.h>

int each(int n, int (*visit)(int));

static int twice(int n)
{
    if (n == 3)
        RAN;
    return n * 2;
}

static void last(void)
{
    RAN;
}

int main(int argc, char **argv)
{
    atexit(last);
    return each(argc > 1 ? atoi(argv[1]) : 0, twice) == 1;
}
