/* One program for many tests: its argument says which check to make. */
#include "calc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *check = argc > 1 ? argv[1] : "add";

    if (strcmp(check, "add") == 0)
        return add(2, 2) == 4 ? 0 : 1;
    if (strcmp(check, "wrong") == 0)
        return add(2, 2) == 5 ? 0 : 1;
    if (strcmp(check, "crash") == 0)
        return divide(1, 0);
    if (strcmp(check, "skip") == 0)
        return 77;
    if (strcmp(check, "slow") == 0) {
        sleep(60);
        return 0;
    }
    if (strcmp(check, "print") == 0) {
        printf("the sum is %d\n", add(atoi(argv[2]), atoi(argv[3])));
        return 3;
    }
    if (strcmp(check, "variable") == 0) {
        const char *value = getenv(argv[2]);
        return value && strcmp(value, argv[3]) == 0 ? 0 : 1;
    }
    fprintf(stderr, "no check '%s'\n", check);
    return 99;
}
