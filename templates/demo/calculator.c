#include <stdio.h>
#include <stdlib.h>

#include "stack.h"

#define FORMAT "%g\n"

static int apply(struct stack *stack, char operator)
{
    double left, right;

    if (stack_pop(stack, &right) || stack_pop(stack, &left))
        return -1;
    switch (operator) {
    case '+':
        return stack_push(stack, left + right);
    case '-':
        return stack_push(stack, left - right);
    case '/':
        return stack_push(stack, left / right);
    default:
        return -1;
    }
}

int main(int argc, char **argv)
{
    struct stack stack = { 0 };
    double result;

    for (int i = 1; i < argc; i++) {
        char *end;
        double value = strtod(argv[i], &end);
        if (end != argv[i] && *end == '\0') {
            if (stack_push(&stack, value))
                return 2;
        } else if (apply(&stack, argv[i][0])) {
            return 1;
        }
    }
    if (stack_pop(&stack, &result))
        return 1;
    printf(FORMAT, result);
    return 0;
}
