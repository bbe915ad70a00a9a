/* One of two translation units that share a header and the name of a static function. */
#include "shared.h"

#include <stdlib.h>

DEFINE_ADDER(add_three, 3)
DEFINE_ADDER(add_five, 5)

static int hidden(int n)
{
    RAN;
    return n + 1;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : -1;
    int m = 2;
    SWAP_IF(n > m, n, m);
    n = add_three(clamp(n));
    if (m > 3)
        n = add_five(n);
    return second(hidden(n), m) > 1000;
}
