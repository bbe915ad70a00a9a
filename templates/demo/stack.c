#include "stack.h"

int stack_push(struct stack *stack, double value)
{
    if (stack->depth == STACK_MAX)
        return -1;
    stack->values[stack->depth++] = value;
    return 0;
}

int stack_pop(struct stack *stack, double *value)
{
    if (stack->depth == 0)
        return -1;
    *value = stack->values[--stack->depth];
    return 0;
}
