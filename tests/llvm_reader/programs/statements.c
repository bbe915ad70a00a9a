/* Every kind of statement and conditional expression. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int of_if(int x) {
    if (x > 10)
        return 1;
    else if (x > 5) {
        x -= 5;
    } else {
        x += 1;
    }
    if (!x)
        x = 2;
    return x;
}

static int of_loops(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i == 3)
            continue;
        if (i == 7)
            break;
        sum += i;
    }
    while (n > 0 && sum < 100) {
        sum += 10;
        n--;
    }
    do {
        sum--;
        if (sum % 13 == 0)
            goto out;
    } while (sum > 50 || n > 3);
    for (;;) {
        if (sum++ > 20)
            break;
    }
out:
    return sum;
}

static int of_switch(int x) {
    int y = 0;
    switch (x) {
    case 0:
        y = 1;
        break;
    case 1:
    case 2:
        y = 2;
        /* falls through */
    case 3:
        y += 3;
        break;
    default:
        y = 9;
    }
    switch (y) {
    case 5:
        return 50;
    case 9:
        return 90;
    }
    switch (x) {
    }
    return y;
}

static int of_conditions(int a, int b, int c) {
    int r = a ? b : c;
    r += a && b;
    r += a || b || c;
    r += !(a && b) || (c && !a) ? 1 : b ? 2 : 3;
    r += a ?: b;
    if ((a && b) || (b && c) || (a && c))
        r += 100;
    if (1)
        r++;
    if (0 && a)
        r--;
    while (0)
        r--;
    return r;
}

static int of_computed_goto(int x) {
    static void *labels[] = {&&one, &&two, &&three};
    goto *labels[(unsigned)x % 3];
one:
    return 1;
two:
    x++;
three:
    return x;
}

static int of_statement_expression(int x) {
    int y = ({
        int z = x;
        if (z > 1)
            z = 1;
        z;
    });
    return y + (x, y);
}

static int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }

static void empty(void) {}

static int never_called(int x) {
    if (x)
        return 1;
    return 0;
}

__attribute__((noinline)) static void leaves(int status) {
    if (status > 100)
        exit(status);
}

int table[] = {1, 2, 3};

int main(int argc, char **argv) {
    int sum = 0;
    int (*volatile pointer)(int) = argc > 50 ? never_called : recursive;
    for (int i = 1; i < argc; i++) {
        int x = atoi(argv[i]);
        sum += of_if(x) + of_loops(x) + of_switch(x) + of_computed_goto(x);
        sum += of_conditions(x & 1, x & 2, x & 4) + of_statement_expression(x);
        sum += pointer(x % 10);
        empty();
        leaves(x);
    }
#ifdef NEVER
    sum = 0;
#else
    sum += table[0];
#endif
#if 0
    never();
#endif
    printf("%d\n", sum);
    return 0;
}
