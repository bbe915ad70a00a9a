#include "machine.h"

#include <stdio.h>
#include <string.h>

static int bad;

#define ASSERT(c) ((c) ? (void)0 : (void)(bad = 1, printf("not %s\n", #c)))
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void print_cell(cell value) {
    printf("%ld ", value);
}

static enum fault run_program(const struct program *program, const char *result) {
    struct machine machine;
    machine_init(&machine, program);
    machine.print = print_cell;
    enum fault fault = machine_run(&machine);
    printf("-> %s", fault_text(fault));
    for (; *result; result++)
        printf(" %c=%ld", *result, machine.variables[*result - 'a']);
    printf("\n");
    return fault;
}

static enum fault run_source(const char *source, const char *result) {
    struct program program;
    const char *where;
    enum fault fault = compile(source, &program, &where);
    if (fault) {
        printf("%s at %d\n", fault_text(fault), (int)(where - source));
        return fault;
    }
    return run_program(&program, result);
}

#define RUN_CODE(result, ...) run_code((const cell[]){__VA_ARGS__}, LENGTH(((const cell[]){__VA_ARGS__})), result)

static enum fault run_code(const cell *code, size_t length, const char *result) {
    struct program program = {.length = (int)length};
    memcpy(program.code, code, length * sizeof *code);
    return run_program(&program, result);
}

static void test_sums(void) {
    ASSERT(run_source("a: 1 + 2 - 5; b: 7 * 6;", "ab") == FAULT_NONE);
}

static void test_precedence(void) {
    run_source("a: 2 + 3 * 4; b: (2 + 3) * 4; c: 10 - 3 - 2; d: 1 < 2 = 1;", "abcd");
}

static void test_division(void) {
    run_source("a: 17 / 5; b: 17 % 5; c: -17 / -1; d: 9 % -1;", "abcd");
    ASSERT(run_source("a: 3; b: 1 / (a - 3);", "ab") == FAULT_DIVISION);
}

static void test_unary(void) {
    run_source("a: -5; b: !a; c: !!7; d: - -3;", "abcd");
}

static void test_branches(void) {
    run_source("x: 3; ? x < 5 { y: 1; } | { y: 2; } ? 5 < x y: 9;", "xy");
    run_source("x: 8; ? x < 5 { y: 1; } | { y: 2; } ? 5 < x y: 9;", "xy");
}

static void test_loops(void) {
    run_source("n: 6; f: 1; @ 0 < n { f: f * n; n: n - 1; $ f; }", "nf");
}

static void test_gcd(void) {
    run_source("a: 84; b: 36; @ !(b = 0) { t: a % b; a: b; b: t; }", "ab");
}

static void test_endless(void) {
    ASSERT(run_source("@ 1 { i: i + 1; }", "") == FAULT_STEPS);
}

static void test_syntax(void) {
    static const char *const wrong[] = {"a: ;", "a 1;", "a: (1;", "{ a: 1;", "a: 1 + ;", "A: 1;", "? 1"};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        ASSERT(run_source(wrong[i], "") == FAULT_SYNTAX);
}

static void test_room(void) {
    char source[400] = "a: 1";
    for (int i = 0; i < 60; i++)
        strcat(source, " + 1");
    strcat(source, ";");
    ASSERT(run_source(source, "a") == FAULT_ROOM);
}

static void test_stack(void) {
    ASSERT(RUN_CODE("", OP_PUSH, 1, OP_JUMP, 0) == FAULT_STACK);
    ASSERT(RUN_CODE("", OP_ADD, OP_HALT) == FAULT_STACK);
}

static void test_calls(void) {
    RUN_CODE("c", OP_CALL, 5, OP_CALL, 5, OP_HALT, OP_LOAD, 2, OP_PUSH, 4, OP_ADD, OP_STORE, 2, OP_RETURN);
    ASSERT(RUN_CODE("", OP_CALL, 0) == FAULT_CALLS);
}

static void test_bad_code(void) {
    ASSERT(RUN_CODE("", 99) == FAULT_CODE);
    ASSERT(RUN_CODE("", OP_JUMP, 77) == FAULT_CODE);
    ASSERT(RUN_CODE("", OP_LOAD, 26, OP_HALT) == FAULT_CODE);
    ASSERT(RUN_CODE("", OP_RETURN) == FAULT_NONE);
}

static void test_listing(void) {
    char text[200];
    struct program program;
    compile("a: 1 + b; $ a;", &program, NULL);
    printf("%d %s\n", disassemble(&program, text, sizeof text), text);
    ASSERT(disassemble(&program, text, 10) >= 10);
    printf("%s\n", text);
    program.code[program.length - 1] = 55;
    printf("%d\n", disassemble(&program, text, sizeof text));
}

static void test_folding(void) {
    char text[200];
    struct program program;
    compile("a: 1 + 2 * 3 - 4; b: a + 1 * 5; c: 8 / 2;", &program, NULL);
    ASSERT(fold(&program) == 4);
    disassemble(&program, text, sizeof text);
    printf("%s\n", text);
    run_program(&program, "abc");
}

static void test_table(void) {
    for (int code = 0; code < CODE_COUNT; code++)
        printf("%s/%d/%d ", code_infos[code].name, code_infos[code].operands, code_infos[code].change);
    printf("\n");
}

static void show_match(const char *pattern, const char *text) {
    printf("%s in %s: %d\n", pattern, text, match_length(pattern, text));
}

static void test_plain_patterns(void) {
    show_match("b.d", "abcde");
    show_match("^b", "abc");
    show_match("c$", "abc");
    ASSERT(!matches("x", "abc"));
    ASSERT(matches("", ""));
}

static void test_repeats(void) {
    show_match("ab*c", "xabbbc");
    show_match("ab+c", "ac");
    show_match("colou?r", "my color");
    show_match("^.*b", "abab-");
}

static void test_sets(void) {
    show_match("[a-c]+", "xxabcabcxx");
    show_match("[^0-9]*$", "123abc");
    show_match("[x-]+", "a-x-b");
}

static void test_classes(void) {
    show_match("\\d+\\s\\w*", "on 42 days_1!");
    show_match("\\.\\w", "a.b");
    show_match("\\s+", "a \t b");
}

static const struct {
    const char *name;
    void (*run)(void);
} all[] = {
    {"sums", test_sums},           {"precedence", test_precedence},
    {"division", test_division},   {"unary", test_unary},
    {"branches", test_branches},   {"loops", test_loops},
    {"gcd", test_gcd},             {"endless", test_endless},
    {"syntax", test_syntax},       {"room", test_room},
    {"stack", test_stack},         {"calls", test_calls},
    {"bad_code", test_bad_code},   {"listing", test_listing},
    {"folding", test_folding},     {"table", test_table},
    {"plain", test_plain_patterns}, {"repeats", test_repeats},
    {"sets", test_sets},           {"classes", test_classes},
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < LENGTH(all); i++) {
        if (argc == 1) {
            printf("%s\n", all[i].name);
            continue;
        }
        if (strcmp(all[i].name, argv[1]) != 0)
            continue;
        all[i].run();
        return bad;
    }
    return argc == 1 ? 0 : 3;
}
