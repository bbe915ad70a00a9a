#include "machine.h"

#include <stdio.h>
#include <string.h>

const struct code_info code_infos[CODE_COUNT] = {
#define CODE(name, operands, change) [OP_##name] = {#name, operands, change},
    CODES(CODE)
#undef CODE
};

static const struct {
    enum fault fault;
    const char *text;
} faults[] = {
    {FAULT_NONE, "fine"},
    {FAULT_STACK, "the stack is too small or too empty"},
    {FAULT_DIVISION, "division by zero"},
    {FAULT_CODE, "no such code"},
    {FAULT_STEPS, "it takes too long"},
    {FAULT_CALLS, "too many calls"},
    {FAULT_SYNTAX, "that is no expression"},
    {FAULT_ROOM, "the program is too long"},
};

const char *fault_text(enum fault fault) {
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].fault == fault)
            return faults[i].text;
    return "unknown";
}

static void throw_fault(struct machine *machine, enum fault fault) {
    machine->fault = fault;
    longjmp(machine->escape, 1);
}

static void push(struct machine *machine, cell value) {
    if (machine->depth >= STACK_ROOM)
        throw_fault(machine, FAULT_STACK);
    machine->stack[machine->depth++] = value;
}

static cell pop(struct machine *machine) {
    if (machine->depth <= 0)
        throw_fault(machine, FAULT_STACK);
    return machine->stack[--machine->depth];
}

static cell fetch(struct machine *machine) {
    if (machine->at < 0 || machine->at >= machine->program->length)
        throw_fault(machine, FAULT_CODE);
    return machine->program->code[machine->at++];
}

static cell *variable(struct machine *machine) {
    cell index = fetch(machine);
    if (index < 0 || index >= VARIABLES)
        throw_fault(machine, FAULT_CODE);
    return &machine->variables[index];
}

static void enter(struct machine *machine, int target) {
    if (machine->calls == CALL_ROOM)
        throw_fault(machine, FAULT_CALLS);
    machine->returns[machine->calls++] = machine->at;
    machine->at = target;
}

void machine_init(struct machine *machine, const struct program *program) {
    memset(machine, 0, sizeof *machine);
    machine->program = program;
}

#define BINARY(name, expression)                                                               \
    case OP_##name: {                                                                          \
        cell right = pop(machine), left = pop(machine);                                        \
        push(machine, (expression));                                                           \
        break;                                                                                 \
    }

static cell quotient(struct machine *machine, cell left, cell right, int wants_rest) {
    if (right == 0)
        throw_fault(machine, FAULT_DIVISION);
    if (right == -1)
        return wants_rest ? 0 : (cell)(0ul - (unsigned long)left);
    return wants_rest ? left % right : left / right;
}

/* False when the program has ended. */
static int step(struct machine *machine) {
    cell target;
    if (++machine->steps > STEPS_MAX)
        throw_fault(machine, FAULT_STEPS);
    switch (fetch(machine)) {
    case OP_HALT:
        return 0;
    case OP_PUSH:
        push(machine, fetch(machine));
        break;
    case OP_LOAD:
        push(machine, *variable(machine));
        break;
    case OP_STORE: {
        cell *place = variable(machine);
        *place = pop(machine);
        break;
    }
    BINARY(ADD, (cell)((unsigned long)left + (unsigned long)right))
    BINARY(SUB, (cell)((unsigned long)left - (unsigned long)right))
    BINARY(MUL, (cell)((unsigned long)left * (unsigned long)right))
    BINARY(DIV, quotient(machine, left, right, 0))
    BINARY(MOD, quotient(machine, left, right, 1))
    BINARY(LESS, left < right)
    BINARY(SAME, left == right)
    case OP_NEG:
        push(machine, (cell)(0ul - (unsigned long)pop(machine)));
        break;
    case OP_NOT:
        push(machine, !pop(machine));
        break;
    case OP_JUMP_IF_ZERO:
        target = fetch(machine);
        if (pop(machine) != 0)
            break;
        machine->at = (int)target;
        break;
    case OP_JUMP:
        machine->at = (int)fetch(machine);
        break;
    case OP_CALL:
        enter(machine, (int)fetch(machine));
        break;
    case OP_RETURN:
        if (machine->calls == 0)
            return 0;
        machine->at = machine->returns[--machine->calls];
        break;
    case OP_PRINT:
        if (machine->print)
            machine->print(pop(machine));
        else
            pop(machine);
        break;
    default:
        throw_fault(machine, FAULT_CODE);
    }
    return 1;
}

enum fault machine_run(struct machine *machine) {
    if (setjmp(machine->escape) != 0)
        return machine->fault;
    while (step(machine))
        ;
    return FAULT_NONE;
}

int disassemble(const struct program *program, char *out, int room) {
    int used = 0, at = 0;
    out[0] = '\0';
    while (at < program->length && used < room) {
        cell code = program->code[at++];
        if (code < 0 || code >= CODE_COUNT)
            goto broken;
        const struct code_info *info = &code_infos[code];
        used += snprintf(out + used, (size_t)(room - used), "%s", info->name);
        for (int i = 0; i < info->operands; i++) {
            if (at >= program->length)
                goto broken;
            if (used < room)
                used += snprintf(out + used, (size_t)(room - used), " %ld", program->code[at]);
            at++;
        }
        if (used < room)
            used += snprintf(out + used, (size_t)(room - used), "; ");
    }
    return used;
broken:
    return -at;
}

/* Computes PUSH PUSH operator while compiling; how many operators are gone. */
int fold(struct program *program) {
    int folded = 0;
    cell *code = program->code;
    for (int at = 0; at + 4 < program->length;) {
        cell value;
        if (code[at] != OP_PUSH || code[at + 2] != OP_PUSH) {
            at += 1 + code_infos[code[at]].operands;
            continue;
        }
        switch (code[at + 4]) {
        case OP_ADD: value = code[at + 1] + code[at + 3]; break;
        case OP_SUB: value = code[at + 1] - code[at + 3]; break;
        case OP_MUL: value = code[at + 1] * code[at + 3]; break;
        default:
            at += 2;
            continue;
        }
        code[at + 1] = value;
        memmove(code + at + 2, code + at + 5, (size_t)(program->length - at - 5) * sizeof *code);
        program->length -= 3;
        folded++;
        at = 0;
    }
    return folded;
}
