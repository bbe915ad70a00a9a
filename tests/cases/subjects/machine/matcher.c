#include "machine.h"

#include <limits.h>
#include <string.h>

/* Pattern: c . [a-z] [^a-z] \d \w \s, each with * + ? behind it; ^ and $ at the ends. */

static unsigned char table[UCHAR_MAX + 1];

enum class { IN_DIGIT = 1 << 0, IN_WORD = 1 << 1, IN_SPACE = 1 << 2, IS_READY = 1 << 7 };

static void fill(int from, int to, unsigned char bits) {
    do
        table[from] |= bits;
    while (from++ < to);
}

static void prepare(void) {
    if (table[0] & IS_READY)
        return;
    fill('0', '9', IN_DIGIT | IN_WORD);
    fill('a', 'z', IN_WORD);
    fill('A', 'Z', IN_WORD);
    fill('_', '_', IN_WORD);
    fill(' ', ' ', IN_SPACE);
    fill('\t', '\r', IN_SPACE);
    table[0] |= IS_READY;
}

static const char *element_end(const char *pattern) {
    switch (*pattern) {
    case '\\':
        return pattern[1] ? pattern + 2 : pattern + 1;
    case '[':
        for (pattern++; *pattern && *pattern != ']'; pattern++)
            ;
        return *pattern ? pattern + 1 : pattern;
    default:
        return pattern + 1;
    }
}

static int in_set(const char *set, const char *end, unsigned char c) {
    int wanted = 1;
    if (*set == '^') {
        wanted = 0;
        set++;
    }
    for (; set < end; set++) {
        if (set + 2 < end && set[1] == '-') {
            if (c >= (unsigned char)set[0] && c <= (unsigned char)set[2])
                return wanted;
            set += 2;
        } else if ((unsigned char)*set == c) {
            return wanted;
        }
    }
    return !wanted;
}

static int fits(const char *pattern, const char *end, char text) {
    unsigned char c = (unsigned char)text;
    if (c == '\0')
        return 0;
    switch (*pattern) {
    case '.':
        return 1;
    case '[':
        return in_set(pattern + 1, end - 1, c);
    case '\\':
        switch (pattern[1]) {
        case 'd': return (table[c] & IN_DIGIT) != 0;
        case 'w': return (table[c] & IN_WORD) != 0;
        case 's': return (table[c] & IN_SPACE) != 0;
        }
        return (unsigned char)pattern[1] == c;
    }
    return (unsigned char)*pattern == c;
}

static const char *here(const char *pattern, const char *text);

static const char *repeat(const char *pattern, const char *end, const char *text, int least, int most) {
    const char *last = text;
    int count = 0;
    while (count < most && fits(pattern, end, *last)) {
        last++;
        count++;
    }
    for (; count >= least; count--, last--) {
        const char *found = here(end + 1, last);
        if (found)
            return found;
    }
    return NULL;
}

/* Where a match that begins here ends. */
static const char *here(const char *pattern, const char *text) {
again:
    if (*pattern == '\0')
        return text;
    if (pattern[0] == '$' && pattern[1] == '\0')
        return *text ? NULL : text;
    const char *end = element_end(pattern);
    switch (*end) {
    case '*': return repeat(pattern, end, text, 0, INT_MAX);
    case '+': return repeat(pattern, end, text, 1, INT_MAX);
    case '?': return repeat(pattern, end, text, 0, 1);
    }
    if (!fits(pattern, end, *text))
        return NULL;
    pattern = end;
    text++;
    goto again;
}

static const char *search(const char *pattern, const char *text, const char **start) {
    prepare();
    int is_bound = *pattern == '^';
    do {
        const char *found = here(pattern + is_bound, text);
        if (found) {
            *start = text;
            return found;
        }
    } while (!is_bound && *text++);
    return NULL;
}

int matches(const char *pattern, const char *text) {
    const char *start;
    return search(pattern, text, &start) != NULL;
}

int match_length(const char *pattern, const char *text) {
    const char *start, *end = search(pattern, text, &start);
    return end ? (int)(end - start) : -1;
}
