/* A stack machine, a compiler of expressions for it, and a matcher of patterns. */
#ifndef MACHINE_H
#define MACHINE_H

#include <setjmp.h>

typedef long cell;

/* CODE(name, operands, change of the stack) */
#define CODES(CODE)                                                                            \
    CODE(HALT, 0, 0)                                                                           \
    CODE(PUSH, 1, 1)                                                                           \
    CODE(LOAD, 1, 1)                                                                           \
    CODE(STORE, 1, -1)                                                                         \
    CODE(ADD, 0, -1)                                                                           \
    CODE(SUB, 0, -1)                                                                           \
    CODE(MUL, 0, -1)                                                                           \
    CODE(DIV, 0, -1)                                                                           \
    CODE(MOD, 0, -1)                                                                           \
    CODE(NEG, 0, 0)                                                                            \
    CODE(NOT, 0, 0)                                                                            \
    CODE(LESS, 0, -1)                                                                          \
    CODE(SAME, 0, -1)                                                                          \
    CODE(JUMP, 1, 0)                                                                           \
    CODE(JUMP_IF_ZERO, 1, -1)                                                                  \
    CODE(CALL, 1, 0)                                                                           \
    CODE(RETURN, 0, 0)                                                                         \
    CODE(PRINT, 0, -1)

enum code {
#define CODE(name, operands, change) OP_##name,
    CODES(CODE)
#undef CODE
    CODE_COUNT
};

struct code_info {
    const char *name;
    unsigned char operands;
    signed char change;
};

extern const struct code_info code_infos[CODE_COUNT];

#define CODE_ROOM 120
#define STACK_ROOM 16
#define CALL_ROOM 5
#define VARIABLES 26
#define STEPS_MAX 2000

enum fault {
    FAULT_NONE,
    FAULT_STACK,
    FAULT_DIVISION,
    FAULT_CODE,
    FAULT_STEPS,
    FAULT_CALLS,
    FAULT_SYNTAX = 16,
    FAULT_ROOM
};

struct program {
    cell code[CODE_ROOM];
    int length;
};

struct machine {
    const struct program *program;
    cell stack[STACK_ROOM];
    cell variables[VARIABLES];
    int returns[CALL_ROOM];
    int depth, calls, at, steps;
    enum fault fault;
    jmp_buf escape;
    void (*print)(cell value);
};

const char *fault_text(enum fault fault);
void machine_init(struct machine *machine, const struct program *program);
enum fault machine_run(struct machine *machine);
enum fault compile(const char *source, struct program *program, const char **where);
int disassemble(const struct program *program, char *out, int room);
int fold(struct program *program);
int matches(const char *pattern, const char *text);
int match_length(const char *pattern, const char *text);

#endif
