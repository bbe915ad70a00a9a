/* Strings that grow; short ones need no memory of their own. */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "settings.h"

struct text {
    char *bytes;
    count_t length;
    count_t capacity;
    char inside[TEXT_INLINE];
};

#define TEXT_EMPTY(name) {(name).inside, 0, TEXT_INLINE, {0}}
#define text_add(text, ...) text_add_all((text), __VA_ARGS__, (const char *)NULL)
#define text_clear(text) text_cut((text), 0)

void text_init(struct text *text);
void text_free(struct text *text);
void text_reserve(struct text *text, size_t capacity);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add_all(struct text *text, const char *first, ...);
int text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int text_replace(struct text *text, const char *old, const char *new);

static inline int text_is_inside(const struct text *text) {
    return text->bytes == text->inside;
}

static inline void text_put(struct text *text, char c) {
    if (text->length + 1u >= text->capacity)
        text_reserve(text, text->length + 2u);
    text->bytes[text->length++] = c;
    text->bytes[text->length] = '\0';
}

static inline void text_cut(struct text *text, size_t length) {
    if (length < text->length) {
        text->length = (count_t)length;
        text->bytes[length] = '\0';
    }
}

static inline int text_compare(const struct text *a, const struct text *b) {
    count_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->bytes, b->bytes, common);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

#endif
