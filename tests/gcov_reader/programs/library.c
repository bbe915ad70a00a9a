/* A shared library with a constructor, a destructor and a callback. */
#include "ran.h"

__attribute__((constructor)) static void begin(void)
{
    RAN;
}

__attribute__((destructor)) static void end(void)
{
    RAN;
}

int each(int n, int (*visit)(int))
{
    int sum = 0;
    while (n > 0)
        sum += visit(n--);
    if (sum > 100)
        RAN;
    return sum;
}
