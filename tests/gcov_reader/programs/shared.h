#include "ran.h"

static inline int clamp(int n)
{
    if (n < 0) {
        RAN;
        return 0;
    }
    if (n > 10)
        return 10;
    RAN;
    return n;
}

#define SWAP_IF(condition, a, b) \
    do {                         \
        if (condition) {         \
            int swap = a;        \
            RAN;                 \
            a = b;               \
            b = swap;            \
        }                        \
    } while (0)

#define DEFINE_ADDER(name, amount) \
    int name(int n)                \
    {                              \
        RAN;                       \
        if (n > amount)            \
            n -= amount;           \
        return n + amount;         \
    }

int second(int a, int b);
int left_alone(int n);
