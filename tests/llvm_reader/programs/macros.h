#ifndef MACROS_H
#define MACROS_H
#include <ctype.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MAX3(a, b, c) MAX(MAX(a, b), c)
#define CHECK(c)    \
    do {            \
        if (!(c))   \
            return -1; \
    } while (0)
#define CHECK_BOTH(a, b) \
    CHECK(a);            \
    CHECK((b) && (a))
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define PICK(x)    \
    switch (x) {   \
    case 1:        \
        return 11; \
    default:       \
        break;     \
    }
#define ALIAS MAX3
#define MAKE(name, op) \
    static int name(int a, int b) { return a op b ? a : b; }

static int in_header(int x) {
    if (x > 0)
        return MAX(x, 3);
    return isalpha(x) || x == -2;
}

static inline int inline_in_header(int x) { return x ? in_header(x) : 0; }

inline int shared_inline(int x) { return x > 4 && x < 9; }
#endif
