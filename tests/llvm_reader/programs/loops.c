/* Dies, or is killed, inside a loop that calls nobody. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static int sum_up(const int *restrict numbers, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

/* From 4, x stays 4, 5, 0 or 1 modulo 8: it never is 78. */
__attribute__((noinline)) static unsigned spin(unsigned x) {
    for (;;) {
        x = x * 3 + 1;
        if (x == 78)
            break;
    }
    return x;
}

int main(int argc, char **argv) {
    int *numbers = calloc(1000, sizeof *numbers);
    if (argc > 1) {
        alarm(1);
        return spin(argc * 2);
    }
    return sum_up(numbers, 1 << 28);
}
