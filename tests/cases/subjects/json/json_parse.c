#include "json.h"

#include <stdlib.h>
#include <string.h>

struct parser {
    const char *at, *end;
    struct json_position position;
    int depth;
    enum json_error error;
};

/* Classes of characters, as a table of bits. */
enum { SPACE = 1, DIGIT = 2, HEX = 4, SIGN = 8 };

static const unsigned char classes[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE,
    ['0'] = DIGIT | HEX, ['1'] = DIGIT | HEX, ['2'] = DIGIT | HEX, ['3'] = DIGIT | HEX,
    ['4'] = DIGIT | HEX, ['5'] = DIGIT | HEX, ['6'] = DIGIT | HEX, ['7'] = DIGIT | HEX,
    ['8'] = DIGIT | HEX, ['9'] = DIGIT | HEX,
    ['a'] = HEX, ['b'] = HEX, ['c'] = HEX, ['d'] = HEX, ['e'] = HEX, ['f'] = HEX,
    ['A'] = HEX, ['B'] = HEX, ['C'] = HEX, ['D'] = HEX, ['E'] = HEX, ['F'] = HEX,
    ['+'] = SIGN, ['-'] = SIGN,
};

#define IS(c, mask) (classes[(unsigned char)(c)] & (mask))
#define MORE(p) ((p)->at < (p)->end)
#define FAIL(p, code)                                                                          \
    do {                                                                                       \
        if (!(p)->error)                                                                       \
            (p)->error = (code);                                                               \
        return NULL;                                                                           \
    } while (0)

static json *parse_value(struct parser *p);

static int peek(const struct parser *p) {
    return MORE(p) ? (unsigned char)*p->at : -1;
}

static int next(struct parser *p) {
    int c = peek(p);
    if (c < 0)
        return c;
    p->at++;
    if (c == '\n') {
        p->position.line++;
        p->position.column = 1;
    } else {
        p->position.column++;
    }
    return c;
}

static void skip_space(struct parser *p) {
    while (MORE(p) && IS(*p->at, SPACE))
        next(p);
}

static bool accept(struct parser *p, char wanted) {
    skip_space(p);
    if (peek(p) != wanted)
        return false;
    next(p);
    return true;
}

static json *parse_word(struct parser *p, const char *word, enum json_type type, bool truth) {
    for (; *word; word++)
        if (next(p) != *word)
            FAIL(p, JSON_UNEXPECTED);
    json *value = json_new(type);
    if (type == JSON_BOOL)
        value->u.truth = truth;
    return value;
}

static int hex_value(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 0x20) - 'a' + 10;
}

static int parse_hex(struct parser *p) {
    int code = 0;
    for (int i = 0; i < 4; i++) {
        int c = next(p);
        if (c < 0 || !IS(c, HEX))
            return -1;
        code = code << 4 | hex_value(c);
    }
    return code;
}

static size_t encode(int code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    out[0] = (char)(0xE0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3F));
    out[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* The character behind a backslash, and what it stands for. */
static const char escapes[][2] = {
    {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'b', '\b'}, {'f', '\f'}, {'"', '"'}, {'\\', '\\'}, {'/', '/'},
};

static bool parse_escape(struct parser *p, char **out) {
    int c = next(p);
    if (c == 'u') {
        int code = parse_hex(p);
        if (code < 0)
            return false;
        *out += encode(code, *out);
        return true;
    }
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if (escapes[i][0] == c) {
            *(*out)++ = escapes[i][1];
            return true;
        }
    return false;
}

static json *parse_string(struct parser *p) {
    char *buffer = malloc((size_t)(p->end - p->at) + 4), *out = buffer;
    json *value = NULL;
    next(p);
    for (;;) {
        int c = next(p);
        if (c == '"')
            break;
        if (c < 0 || c == '\n') {
            p->error = JSON_UNTERMINATED;
            goto done;
        }
        if (c != '\\') {
            *out++ = (char)c;
        } else if (!parse_escape(p, &out)) {
            p->error = JSON_BAD_ESCAPE;
            goto done;
        }
    }
    value = json_string(buffer, (size_t)(out - buffer));
done:
    free(buffer);
    return value;
}

static int digits(struct parser *p, double *number) {
    int count = 0;
    while (MORE(p) && IS(*p->at, DIGIT)) {
        *number = *number * 10 + (next(p) - '0');
        count++;
    }
    return count;
}

static double power_of_ten(int exponent) {
    double power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    return exponent < 0 ? 1 / power : power;
}

static json *parse_number(struct parser *p) {
    double number = 0, exponent = 0;
    int scale = 0, sign = 1;
    if (peek(p) == '-') {
        sign = -1;
        next(p);
    }
    if (digits(p, &number) == 0)
        FAIL(p, JSON_BAD_NUMBER);
    if (peek(p) == '.') {
        next(p);
        scale = digits(p, &number);
        if (!scale)
            FAIL(p, JSON_BAD_NUMBER);
    }
    if ((peek(p) | 0x20) == 'e') {
        next(p);
        bool negative = peek(p) == '-';
        if (MORE(p) && IS(*p->at, SIGN))
            next(p);
        if (digits(p, &exponent) == 0 || exponent > 300)
            FAIL(p, JSON_BAD_NUMBER);
        exponent = negative ? -exponent : exponent;
    }
    return json_number(sign * number * power_of_ten((int)exponent - scale));
}

static json *parse_array(struct parser *p) {
    json *array = json_new(JSON_ARRAY);
    next(p);
    if (accept(p, ']'))
        return array;
    do {
        json *item = parse_value(p);
        if (item == NULL)
            goto failed;
        json_append(array, item);
    } while (accept(p, ','));
    if (accept(p, ']'))
        return array;
    if (!p->error)
        p->error = MORE(p) ? JSON_UNEXPECTED : JSON_UNTERMINATED;
failed:
    json_free(array);
    return NULL;
}

static json *parse_object(struct parser *p) {
    json *object = json_new(JSON_OBJECT), *name = NULL;
    next(p);
    if (accept(p, '}'))
        return object;
    do {
        skip_space(p);
        if (peek(p) != '"' || !(name = parse_string(p)))
            goto failed;
        if (!accept(p, ':'))
            goto failed;
        json *value = parse_value(p);
        if (!value)
            goto failed;
        if (!json_set(object, name->u.string.bytes, value)) {
            p->error = JSON_DUPLICATE;
            goto failed;
        }
        json_free(name);
        name = NULL;
    } while (accept(p, ','));
    if (accept(p, '}'))
        return object;
failed:
    if (!p->error)
        p->error = MORE(p) ? JSON_UNEXPECTED : JSON_UNTERMINATED;
    json_free(name);
    json_free(object);
    return NULL;
}

static json *parse_value(struct parser *p) {
    json *value;
    if (++p->depth > JSON_MAX_DEPTH)
        FAIL(p, JSON_TOO_DEEP);
    skip_space(p);
    switch (peek(p)) {
    case '{': value = parse_object(p); break;
    case '[': value = parse_array(p); break;
    case '"': value = parse_string(p); break;
    case 't': value = parse_word(p, "true", JSON_BOOL, true); break;
    case 'f': value = parse_word(p, "false", JSON_BOOL, false); break;
    case 'n': value = parse_word(p, "null", JSON_NULL, false); break;
    case '-':
    case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        value = parse_number(p);
        break;
    case -1: FAIL(p, JSON_UNTERMINATED);
    default: FAIL(p, JSON_UNEXPECTED);
    }
    p->depth--;
    return value;
}

struct json_result json_parse(const char *text, size_t length) {
    struct parser p = {.at = text, .end = text + length, .position = {1, 1}};
    json *value = parse_value(&p);
    if (value) {
        skip_space(&p);
        if (MORE(&p)) {
            json_free(value);
            value = NULL;
            p.error = JSON_TRAILING;
        }
    }
    return (struct json_result){.value = value, .error = p.error, .where = p.position};
}

#define EXPLAIN(code, text) case JSON_##code: return #code ": " text

const char *json_explain(enum json_error error) {
    switch (error) {
        EXPLAIN(OK, "nothing is wrong");
        EXPLAIN(UNEXPECTED, "nobody expects this character");
        EXPLAIN(UNTERMINATED, "the text ends too early");
        EXPLAIN(BAD_ESCAPE, "no such escape");
        EXPLAIN(BAD_NUMBER, "not a number");
        EXPLAIN(TOO_DEEP, "too many brackets");
        EXPLAIN(TRAILING, "text behind the value");
        EXPLAIN(DUPLICATE, "two members of one name");
    }
    return "?";
}
