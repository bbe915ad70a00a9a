#ifndef STACK_H
#define STACK_H

#define STACK_MAX 16

struct stack {
    int depth;
    double values[STACK_MAX];
};

int stack_push(struct stack *stack, double value);
int stack_pop(struct stack *stack, double *value);

#endif
