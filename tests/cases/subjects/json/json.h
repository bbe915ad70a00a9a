/* A small JSON library: values, a parser and a printer. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_MAX_DEPTH 6
#define JSON_INITIAL_CAPACITY 2
#define JSON_GROW(capacity) ((capacity) < JSON_INITIAL_CAPACITY ? JSON_INITIAL_CAPACITY : (capacity) * 2)

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT, JSON_TYPES };

enum json_error {
    JSON_OK = 0,
    JSON_UNEXPECTED,
    JSON_UNTERMINATED,
    JSON_BAD_ESCAPE,
    JSON_BAD_NUMBER,
    JSON_TOO_DEEP,
    JSON_TRAILING = 10,
    JSON_DUPLICATE
};

enum json_flags { JSON_PRETTY = 1 << 0, JSON_SORTED = 1 << 1, JSON_ASCII = 1 << 2 };

typedef struct json json;

struct json_member {
    char *name;
    json *value;
};

struct json_position {
    int line;
    int column;
};

struct json {
    enum json_type type;
    union {
        bool truth;
        double number;
        struct {
            char *bytes;
            size_t length;
        } string;
        struct {
            json **items;
            size_t count, capacity;
        } array;
        struct {
            struct json_member *members;
            size_t count, capacity;
        } object;
    } u;
};

struct json_result {
    json *value;
    enum json_error error;
    struct json_position where;
};

#define json_is(value, kind) ((value) != NULL && (value)->type == JSON_##kind)
#define JSON_FOR_EACH(index, value) for (size_t index = 0; index < json_count(value); index++)

extern const char *const json_type_names[JSON_TYPES];

/* json_value.c */
json *json_new(enum json_type type);
json *json_number(double number);
json *json_string(const char *bytes, size_t length);
void json_free(json *value);
size_t json_count(const json *value);
json *json_at(const json *array, size_t index);
json *json_get(const json *object, const char *name);
bool json_append(json *array, json *item);
bool json_set(json *object, const char *name, json *value);
bool json_equal(const json *a, const json *b);
json *json_copy(const json *value);
int json_weight(const json *value);
const json *json_path(const json *value, const char *path);

/* json_parse.c */
struct json_result json_parse(const char *text, size_t length);
const char *json_explain(enum json_error error);

/* json_print.c */
size_t json_print(const json *value, unsigned flags, char *buffer, size_t size);

#endif
