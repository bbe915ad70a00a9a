/* A shared library with a state of its own. */
static int calls;

static int twice(int x) { return x % 2 ? x * 2 : x; }

int library(int x) {
    calls++;
    if (calls > 2 && x)
        return twice(x);
    return calls;
}

int library_unused(int x) { return x ? 1 : 0; }
