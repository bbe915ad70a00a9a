#include "machine.h"

#include <ctype.h>
#include <string.h>

struct compiler {
    const char *at;
    struct program *program;
    enum fault fault;
    jmp_buf escape;
};

/* Binary operators by how strongly they bind. */
struct operator {
    char sign;
    signed char strength;
    short code;
};

static const struct operator operators[] = {
    {'=', 1, OP_SAME}, {'<', 1, OP_LESS}, {'+', 2, OP_ADD}, {'-', 2, OP_SUB},
    {'*', 3, OP_MUL},  {'/', 3, OP_DIV},  {'%', 3, OP_MOD},
};

enum { WEAKEST = 1, STRONGEST = 3 };

static void expression(struct compiler *c, int strength);

static void fail(struct compiler *c, enum fault fault) {
    c->fault = fault;
    longjmp(c->escape, 1);
}

static int emit(struct compiler *c, cell value) {
    if (c->program->length == CODE_ROOM)
        fail(c, FAULT_ROOM);
    c->program->code[c->program->length] = value;
    return c->program->length++;
}

#define EMIT(c, name) emit((c), OP_##name)
#define EMIT_WITH(c, name, operand) (EMIT(c, name), emit((c), (operand)))

static char look(struct compiler *c) {
    while (isspace((unsigned char)*c->at))
        c->at++;
    return *c->at;
}

static int eat(struct compiler *c, char wanted) {
    if (look(c) != wanted)
        return 0;
    c->at++;
    return 1;
}

static void expect(struct compiler *c, char wanted) {
    if (!eat(c, wanted))
        fail(c, FAULT_SYNTAX);
}

static void patch(struct compiler *c, int place) {
    c->program->code[place] = c->program->length;
}

static void number(struct compiler *c) {
    cell value = 0;
    for (; isdigit((unsigned char)*c->at); c->at++)
        value = value * 10 + (*c->at - '0');
    EMIT_WITH(c, PUSH, value);
}

static void primary(struct compiler *c) {
    char first = look(c);
    if (isdigit((unsigned char)first)) {
        number(c);
    } else if (islower((unsigned char)first)) {
        c->at++;
        EMIT_WITH(c, LOAD, first - 'a');
    } else if (eat(c, '(')) {
        expression(c, WEAKEST);
        expect(c, ')');
    } else if (eat(c, '-')) {
        primary(c);
        EMIT(c, NEG);
    } else if (eat(c, '!')) {
        primary(c);
        EMIT(c, NOT);
    } else {
        fail(c, FAULT_SYNTAX);
    }
}

static const struct operator *operator_at(struct compiler *c, int strength) {
    char sign = look(c);
    const struct operator *operator = operators;
    const struct operator *const end = operators + sizeof operators / sizeof operators[0];
    for (; operator < end; operator++)
        if (operator->sign == sign && operator->strength == strength)
            return operator;
    return 0;
}

static void expression(struct compiler *c, int strength) {
    const struct operator *operator;
    if (strength > STRONGEST) {
        primary(c);
        return;
    }
    expression(c, strength + 1);
    while ((operator = operator_at(c, strength)) != 0) {
        c->at++;
        expression(c, strength + 1);
        emit(c, operator->code);
    }
}

static void statement(struct compiler *c);

static void block(struct compiler *c) {
    while (look(c) != '}' && look(c) != '\0')
        statement(c);
    expect(c, '}');
}

/* x: e;   ? e { } else { }   @ e { }   $ e;   { } */
static void statement(struct compiler *c) {
    int start, out;
    char first = look(c);
    switch (first) {
    case '?':
        c->at++;
        expression(c, WEAKEST);
        out = EMIT_WITH(c, JUMP_IF_ZERO, 0);
        statement(c);
        if (look(c) == '|') {
            int over = (c->at++, EMIT_WITH(c, JUMP, 0));
            patch(c, out);
            statement(c);
            out = over;
        }
        patch(c, out);
        return;
    case '@':
        c->at++;
        start = c->program->length;
        expression(c, WEAKEST);
        out = EMIT_WITH(c, JUMP_IF_ZERO, 0);
        statement(c);
        EMIT_WITH(c, JUMP, start);
        patch(c, out);
        return;
    case '{':
        c->at++;
        block(c);
        return;
    case '$':
        c->at++;
        expression(c, WEAKEST);
        EMIT(c, PRINT);
        break;
    default:
        if (!islower((unsigned char)first) || (c->at++, !eat(c, ':')))
            fail(c, FAULT_SYNTAX);
        expression(c, WEAKEST);
        EMIT_WITH(c, STORE, first - 'a');
        break;
    }
    expect(c, ';');
}

enum fault compile(const char *source, struct program *program, const char **where) {
    struct compiler c;
    memset(&c, 0, sizeof c);
    c.at = source;
    c.program = program;
    program->length = 0;
    if (setjmp(c.escape))
        goto done;
    while (look(&c))
        statement(&c);
    EMIT(&c, HALT);
done:
    if (where)
        *where = c.at;
    return c.fault;
}
