/* A second unit: it uses other parts of the header. */
#include "macros.h"

static int same_name(int x) {
    CHECK(x);
    return x * 2;
}

int other(int x) { return same_name(x) + shared_inline(x) + (x > 1 ? in_header(-x) : 0); }
