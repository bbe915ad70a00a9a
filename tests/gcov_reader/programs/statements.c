/* Every kind of statement and of conditional evaluation; the argument decides what is executed. */
#include "ran.h"

#include <stdlib.h>

static int table[4] = {3, 1, 4, 1};

static int choose(int n)
{
    if (n > 2)
        RAN;
    else if (n == 1) {
        RAN;
        return 5;
    } else
        RAN;
    return n > 1 ? n < 9 ? n + 1 : (RAN, n + 2)
                 : n + 3;
}

static int logical(int a, int b)
{
    int result = 0;
    if (a && b)
        RAN;
    if (a || b)
        RAN;
    if (!a && (b || a > 3)
        && b != 2)
        RAN;
    result = a &&
             (RAN, b) &&
             (RAN, a > b);
    return result;
}

static int loops(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i & 3];
    for (;;) {
        if (sum > 3)
            break;
        RAN;
        sum++;
    }
    while (n-- > 0) {
        if (n == 2)
            continue;
        RAN;
    }
    do
        sum -= 2;
    while (sum > 0);
    do {
        RAN;
    } while (0);
    return sum;
}

static int switches(int n)
{
    switch (n) {
    case 0:
        RAN;
        /* fall through */
    case 1:
        RAN;
        break;
    case 2 ... 4:
        RAN;
        return 7;
    case 100: {
        RAN;
        break;
    }
    default:
        RAN;
    }
    switch (n & 1)
    case 1:
        RAN;
    switch (n) {
        int never;
    case 6:
        RAN;
        never = 1;
        return never;
    }
    return 0;
}

static int gotos(int n)
{
    static void *labels[] = {&&zero, &&one, &&many};
    goto *labels[n > 2 ? 2 : n & 1];
zero:
    RAN;
    if (n == 2)
        goto end;
    n--;
one:
    RAN;
many:
    n--;
    RAN;
    if (n > 0)
        goto many;
end:
    return n;
}

/* Duff's device: the cases stand inside the loop. */
static int duff(int count)
{
    int done = 0;
    int rounds = (count + 3) / 4;
    switch (count % 4) {
    case 0:
        do {
            done++;
    case 3:
            done++;
            RAN;
    case 2:
            done++;
    case 1:
            done++;
            RAN;
        } while (--rounds > 0);
    }
    return done;
}

static int expressions(int n)
{
    int nested(int m)
    {
        RAN;
        return m + n;
    }
    int array[n + 1];
    array[n] = ({
        int inner = n * 2;
        if (inner > 4)
            RAN;
        inner;
    });
    struct { int a, b; } pair = {.b = n ?: 3, .a = array[n]};
    if (__builtin_expect(n > 5, 0))
        return nested(pair.a);
    return pair.b, pair.a;
}

static void tidy(int *n)
{
    RAN;
    *n = 0;
}

static int cleaned(int n)
{
    __attribute__((cleanup(tidy))) int local = n;
    if (n == 3)
        return local;
    RAN;
    return local + 1;
}

static int recursive(int n)
{
    if (n <= 1)
        return 1;
    return recursive(n - 1) + recursive(n - 2);
}

static int unused(int n) { return n; }
int never_called(int n)
{
    RAN;
    return n ? unused(n) : 0;
}

/* Two functions on one line. */
static int left(int n) { return n + 1; } static int right(int n) { RAN; return n ? left(n) : 2; }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    int total = choose(n) + logical(n, n & 2) + loops(n) + switches(n) + gotos(n);
    total += duff(n + 1) + expressions(n) + cleaned(n) + recursive(n & 7);
    if (n > 4) total += right(n); else total += left(n);
    return total == 12345;
}
