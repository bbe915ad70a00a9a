/* Macros with control flow, macros in macros, functions made by macros and functions of headers. */
#include "macros.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int other(int x);
extern inline int shared_inline(int x);

MAKE(less, <)
MAKE(more, >)

static int checks(int a, int b) {
    CHECK(a);
    CHECK_BOTH(a > 1, b);
    int sum = 0;
    EACH(i, a) EACH(j, b) {
        if (i == j)
            sum += MAX3(i, j, 1);
    }
    PICK(sum)
    assert(sum >= 0);
    return ALIAS(sum, a, b) + (MAX(a, b) && isalpha(a));
}

#include "part.h"

static int same_name(int x) { return x ? 1 : 2; }

int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 1; i < argc; i++) {
        int x = atoi(argv[i]);
        sum += checks(x, i) + less(x, i) + more(x, i) + in_header(x) + other(x);
        sum += inline_in_header(x) + shared_inline(x) + same_name(x) + part(x);
    }
    printf("%d\n", sum);
    return 0;
}
