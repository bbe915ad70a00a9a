/* Control that comes back twice. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;

static void jump(int value) {
    if (value)
        longjmp(place, value);
}

static int lands(int value) {
    int result = 0;
    if (setjmp(place)) {
        result = 1;
    } else {
        jump(value);
        result = 2;
    }
    return result;
}

static int lands_in_a_loop(int rounds) {
    volatile int round = 0;
    int code = setjmp(place);
    while (round < rounds) {
        round++;
        if (code < 3)
            jump(code + 1);
        else
            return round;
    }
    return -round;
}

int main(void) {
    int sum = lands(0) + lands(1) + lands_in_a_loop(9) + lands_in_a_loop(2);
    printf("%d\n", sum);
    return 0;
}
