#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
#define HAS(printer, flag) (((printer)->flags & JSON_##flag) != 0)

struct printer {
    char *buffer;
    size_t size, used;
    unsigned flags;
    int depth;
};

typedef void print_function(struct printer *, const json *);

static print_function print_null, print_truth, print_number, print_text, print_array, print_object;

static print_function *const printers[JSON_TYPES] = {
    print_null, print_truth, print_number, print_text, print_array, print_object,
};

static void put(struct printer *p, char c) {
    if (p->used + 1 < p->size)
        p->buffer[p->used] = c;
    p->used++;
}

static void puts_to(struct printer *p, const char *text) {
    while (*text)
        put(p, *text++);
}

#define PUTF(p, ...)                                                                           \
    do {                                                                                       \
        char scratch[40];                                                                      \
        snprintf(scratch, sizeof scratch, __VA_ARGS__);                                        \
        puts_to((p), scratch);                                                                 \
    } while (0)

static void new_line(struct printer *p) {
    if (!HAS(p, PRETTY))
        return;
    put(p, '\n');
    for (int i = 0; i < p->depth * INDENT; i++)
        put(p, ' ');
}

static void print_value(struct printer *p, const json *value) {
    printers[value->type](p, value);
}

static void print_null(struct printer *p, const json *value) {
    puts_to(p, json_type_names[value->type]);
}

static void print_truth(struct printer *p, const json *value) {
    static const char *const words[] = {"false", "true"};
    puts_to(p, words[value->u.truth]);
}

static void print_number(struct printer *p, const json *value) {
    double number = value->u.number;
    if (number > -1e15 && number < 1e15 && number == (double)(long long)number)
        PUTF(p, "%lld", (long long)number);
    else
        PUTF(p, "%.6g", number);
}

static const char *escape_of(unsigned char c) {
    static const struct {
        char c;
        char text[3];
    } table[] = {{'\n', "\\n"}, {'\t', "\\t"}, {'"', "\\\""}, {'\\', "\\\\"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((unsigned char)table[i].c == c)
            return table[i].text;
    return NULL;
}

/* How many bytes follow the first one of a character, by its upper bits. */
static int bytes_behind(unsigned char c) {
    return c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
}

static void print_bytes(struct printer *p, const char *bytes, size_t length) {
    put(p, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        const char *escape = escape_of(c);
        int behind = bytes_behind(c);
        if (escape) {
            puts_to(p, escape);
        } else if (c < ' ') {
            PUTF(p, "\\u%04x", c);
        } else if (HAS(p, ASCII) && behind > 0) {
            unsigned code = c & (behind == 2 ? 0x0Fu : 0x1Fu);
            while (behind-- > 0 && i + 1 < length)
                code = code << 6 | ((unsigned char)bytes[++i] & 0x3Fu);
            PUTF(p, "\\u%04x", code);
        } else {
            put(p, (char)c);
        }
    }
    put(p, '"');
}

static void print_text(struct printer *p, const json *value) {
    print_bytes(p, value->u.string.bytes, value->u.string.length);
}

static void print_array(struct printer *p, const json *value) {
    put(p, '[');
    p->depth++;
    JSON_FOR_EACH(i, value) {
        if (i > 0)
            put(p, ',');
        new_line(p);
        print_value(p, value->u.array.items[i]);
    }
    p->depth--;
    if (json_count(value) != 0)
        new_line(p);
    put(p, ']');
}

static int by_name(const void *a, const void *b) {
    const struct json_member *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void print_object(struct printer *p, const json *value) {
    size_t count = json_count(value);
    const struct json_member **order = calloc(count + 1, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = value->u.object.members + i;
    if (HAS(p, SORTED))
        qsort(order, count, sizeof *order, by_name);
    put(p, '{');
    p->depth++;
    for (size_t i = 0; i < count; i++) {
        if (i)
            put(p, ',');
        new_line(p);
        print_bytes(p, order[i]->name, strlen(order[i]->name));
        puts_to(p, HAS(p, PRETTY) ? ": " : ":");
        print_value(p, order[i]->value);
    }
    p->depth--;
    if (count)
        new_line(p);
    put(p, '}');
    free(order);
}

/* The length of the whole text, of which as much is written as there is room for. */
size_t json_print(const json *value, unsigned flags, char *buffer, size_t size) {
    struct printer p = {buffer, size, 0, flags, 0};
    print_value(&p, value);
    if (size > 0)
        buffer[p.used < size ? p.used : size - 1] = '\0';
    return p.used;
}
