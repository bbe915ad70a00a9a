#include "text.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUND_UP(n, step) (((n) + (step) - 1) / (step) * (step))

_Static_assert(TEXT_INLINE >= 4, "a text needs some room inside");

void text_init(struct text *text) {
    *text = (struct text)TEXT_EMPTY(*text);
}

void text_free(struct text *text) {
    if (!text_is_inside(text))
        free(text->bytes);
    text_init(text);
}

void text_reserve(struct text *text, size_t capacity) {
    if (capacity <= text->capacity)
        return;
    size_t wanted = ROUND_UP(capacity, 16);
    char *more = text_is_inside(text) ? malloc(wanted) : realloc(text->bytes, wanted);
    if (more == NULL)
        abort();
    if (text_is_inside(text))
        memcpy(more, text->inside, text->length + 1u);
    text->bytes = more;
    text->capacity = (count_t)wanted;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length) {
    text_reserve(text, text->length + length + 1);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += (count_t)length;
    text->bytes[text->length] = '\0';
}

void text_add_all(struct text *text, const char *first, ...) {
    va_list rest;
    va_start(rest, first);
    for (const char *part = first; part != NULL; part = va_arg(rest, const char *))
        text_add_bytes(text, part, strlen(part));
    va_end(rest);
}

int text_format(struct text *text, const char *format, ...) {
    char small[24];
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(small, sizeof small, format, values);
    if (length >= (int)sizeof small) {
        text_reserve(text, text->length + (size_t)length + 1);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (count_t)length;
    } else if (length > 0) {
        text_add_bytes(text, small, (size_t)length);
    }
    va_end(again);
    va_end(values);
    return length;
}

/* How many times something was replaced. */
int text_replace(struct text *text, const char *old, const char *new) {
    struct text result;
    int count = 0;
    const char *at = text->bytes, *found;
    text_init(&result);
    if (*old == '\0')
        goto done;
    while ((found = strstr(at, old)) != NULL) {
        text_add_bytes(&result, at, (size_t)(found - at));
        text_add(&result, new);
        at = found + strlen(old);
        count++;
    }
    if (count == 0)
        goto done;
    text_add(&result, at);
    text_clear(text);
    text_add(text, result.bytes);
done:
    text_free(&result);
    return count;
}
