#include <stdlib.h>
int library(int x);

int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 1; i < argc; i++)
        sum += library(atoi(argv[i]));
    return sum == 12345 ? 1 : 0;
}
