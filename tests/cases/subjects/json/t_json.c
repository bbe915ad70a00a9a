#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int json_alive(void);

static int failures;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("failed: %s\n", #condition);                                                \
            failures++;                                                                        \
        }                                                                                      \
    } while (0)

static json *parsed(const char *text) {
    struct json_result result = json_parse(text, strlen(text));
    if (result.error) {
        printf("%s at %d:%d\n", json_explain(result.error), result.where.line, result.where.column);
        failures++;
    }
    return result.value;
}

static void show(const json *value, unsigned flags) {
    char buffer[400];
    size_t length = json_print(value, flags, buffer, sizeof buffer);
    printf("%zu: %s\n", length, buffer);
}

static void round_trip(const char *text) {
    json *value = parsed(text);
    show(value, 0);
    json_free(value);
}

static void refuse(const char *text, enum json_error error) {
    struct json_result result = json_parse(text, strlen(text));
    printf("%d at %d:%d\n", result.error, result.where.line, result.where.column);
    CHECK(result.value == NULL);
    CHECK(result.error == error);
}

static void test_words(void) {
    round_trip("true");
    round_trip(" false ");
    round_trip("null");
}

static void test_integers(void) {
    round_trip("0");
    round_trip("-17");
    json *value = parsed("123456");
    CHECK(value->u.number == 123456);
    json_free(value);
}

static void test_fractions(void) {
    round_trip("0.25");
    round_trip("-12.5");
    round_trip("3.0");
}

static void test_exponents(void) {
    round_trip("1e3");
    round_trip("25E-1");
    round_trip("7e+20");
}

static void test_strings(void) {
    json *value = parsed("\"plain text\"");
    CHECK(json_count(value) == 10);
    show(value, 0);
    json_free(value);
    round_trip("\"\"");
}

static void test_escapes(void) {
    round_trip("\"a\\n\\t\\\"\\\\ \\/ \\u0041\\u0007\"");
}

static void test_unicode(void) {
    json *value = parsed("\"\\u00e9 \\u20AC\"");
    show(value, 0);
    show(value, JSON_ASCII);
    CHECK(value->u.string.length == 6);
    json_free(value);
}

static void test_arrays(void) {
    round_trip("[]");
    json *value = parsed("[1, [true, null], \"x\"]");
    CHECK(json_count(value) == 3);
    CHECK(json_is(json_at(value, 1), ARRAY));
    CHECK(json_at(value, 3) == NULL);
    show(value, 0);
    json_free(value);
}

static void test_objects(void) {
    round_trip("{}");
    json *value = parsed("{\"b\": 1, \"a\": {\"c\": []}}");
    CHECK(json_get(value, "b")->u.number == 1);
    CHECK(json_get(value, "z") == NULL);
    show(value, 0);
    json_free(value);
}

static void test_pretty(void) {
    json *value = parsed("{\"list\": [1, 2], \"empty\": [], \"more\": {\"x\": null}}");
    show(value, JSON_PRETTY);
    json_free(value);
}

static void test_sorted(void) {
    json *value = parsed("{\"c\": 3, \"a\": 1, \"b\": [2]}");
    show(value, JSON_SORTED);
    show(value, JSON_SORTED | JSON_PRETTY);
    json_free(value);
}

static void test_short_buffer(void) {
    char buffer[8];
    json *value = parsed("[\"abcdefghij\"]");
    CHECK(json_print(value, 0, buffer, sizeof buffer) == 14);
    CHECK(strlen(buffer) == 7);
    puts(buffer);
    json_free(value);
}

static void test_unterminated(void) {
    refuse("", JSON_UNTERMINATED);
    refuse("[1, 2", JSON_UNTERMINATED);
    refuse("{\"a\": 1", JSON_UNTERMINATED);
    refuse("\"abc", JSON_UNTERMINATED);
}

static void test_unexpected(void) {
    refuse("[1,\n  ?]", JSON_UNEXPECTED);
    refuse("{\"a\" 1}", JSON_UNEXPECTED);
    refuse("trve", JSON_UNEXPECTED);
    refuse("1 2", JSON_TRAILING);
}

static void test_bad_text(void) {
    refuse("\"\\q\"", JSON_BAD_ESCAPE);
    refuse("\"\\u12G4\"", JSON_BAD_ESCAPE);
    refuse("-x", JSON_BAD_NUMBER);
    refuse("1.", JSON_BAD_NUMBER);
    refuse("1e999", JSON_BAD_NUMBER);
}

static void test_duplicates(void) {
    refuse("{\"a\": 1, \"a\": 2}", JSON_DUPLICATE);
}

static void test_depth(void) {
    round_trip("[[[[[]]]]]");
    refuse("[[[[[[[]]]]]]]", JSON_TOO_DEEP);
}

static void test_explanations(void) {
    for (int error = JSON_OK; error <= JSON_DUPLICATE; error++)
        puts(json_explain(error));
}

static void test_equality(void) {
    json *a = parsed("{\"x\": [1, \"s\", true], \"y\": null}");
    json *b = parsed("{\"y\": null, \"x\": [1, \"s\", true]}");
    json *c = parsed("{\"y\": null, \"x\": [1, \"t\", true]}");
    CHECK(json_equal(a, b));
    CHECK(!json_equal(a, c));
    CHECK(!json_equal(json_get(a, "x"), json_get(a, "y")));
    json_free(a);
    json_free(b);
    json_free(c);
}

static void test_copies(void) {
    json *value = parsed("[{\"k\": \"v\"}, 2.5, false, []]");
    json *copy = json_copy(value);
    CHECK(json_equal(value, copy));
    json_free(value);
    show(copy, 0);
    json_free(copy);
    printf("%d alive\n", json_alive());
}

static void test_building(void) {
    json *object = json_new(JSON_OBJECT), *list = json_new(JSON_ARRAY);
    for (int i = 0; i < 5; i++)
        CHECK(json_append(list, json_number(i * i)));
    CHECK(json_set(object, "squares", list));
    CHECK(json_set(object, "name", json_string("squares", 3)));
    CHECK(!json_set(object, "name", json_number(7)));
    CHECK(!json_append(object, NULL));
    show(object, 0);
    json_free(object);
    CHECK(json_alive() == 0);
}

static void test_weights(void) {
    json *value = parsed("[null, true, 1, \"x\", {\"a\": 1}]");
    JSON_FOR_EACH(i, value)
        printf("%s %d\n", json_type_names[json_at(value, i)->type], json_weight(json_at(value, i)));
    printf("%d\n", json_weight(value));
    json_free(value);
}

static void test_paths(void) {
    json *value = parsed("{\"a\": [10, {\"b\": 42}], \"c\": \"s\"}");
    const char *const paths[] = {"a.0", "a.1.b", "c", "a.7", "a.x", "c.d", "a.averyverylongstep", ""};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const json *found = json_path(value, paths[i]);
        printf("%s: ", paths[i]);
        if (found)
            show(found, 0);
        else
            puts("nothing");
    }
    json_free(value);
}

#define TEST(name) {#name, test_##name}

static const struct {
    const char *name;
    void (*function)(void);
} tests[] = {
    TEST(words), TEST(integers), TEST(fractions), TEST(exponents), TEST(strings), TEST(escapes),
    TEST(unicode), TEST(arrays), TEST(objects), TEST(pretty), TEST(sorted), TEST(short_buffer),
    TEST(unterminated), TEST(unexpected), TEST(bad_text), TEST(duplicates), TEST(depth),
    TEST(explanations), TEST(equality), TEST(copies), TEST(building), TEST(weights), TEST(paths),
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (argc < 2)
            puts(tests[i].name);
        else if (strcmp(argv[1], tests[i].name) == 0) {
            tests[i].function();
            return failures != 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
