#include "shared.h"

static int hidden(int n)
{
    if (n > 7)
        RAN;
    return n - 1;
}

int second(int a, int b)
{
    SWAP_IF(a > b, a, b);
    SWAP_IF(a < 0, a, b);
    return hidden(clamp(a)) + b;
}

__attribute__((weak)) int left_alone(int n)
{
    return n;
}
