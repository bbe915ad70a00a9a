#include "json.h"

#include <stdlib.h>
#include <string.h>

const char *const json_type_names[JSON_TYPES] = {
    [JSON_NULL] = "null",     [JSON_BOOL] = "bool",   [JSON_NUMBER] = "number",
    [JSON_STRING] = "string", [JSON_ARRAY] = "array", [JSON_OBJECT] = "object",
};

/* What differs from type to type is in tables. */
typedef void (*free_function)(json *);
typedef bool (*equal_function)(const json *, const json *);
typedef int (*weight_function)(const json *);

static int allocations;

json *json_new(enum json_type type) {
    json *value = calloc(1, sizeof *value);
    if (value == NULL)
        return NULL;
    value->type = type;
    allocations++;
    return value;
}

json *json_number(double number) {
    json *value = json_new(JSON_NUMBER);
    value->u.number = number;
    return value;
}

json *json_string(const char *bytes, size_t length) {
    json *value = json_new(JSON_STRING);
    value->u.string.bytes = malloc(length + 1);
    memcpy(value->u.string.bytes, bytes, length);
    value->u.string.bytes[length] = '\0';
    value->u.string.length = length;
    return value;
}

static void free_nothing(json *value) {
    (void)value;
}

static void free_string(json *value) {
    free(value->u.string.bytes);
}

static void free_array(json *value) {
    for (size_t i = 0; i < value->u.array.count; i++)
        json_free(value->u.array.items[i]);
    free(value->u.array.items);
}

static void free_object(json *value) {
    struct json_member *member = value->u.object.members;
    struct json_member *const end = member + value->u.object.count;
    for (; member != end; member++) {
        free(member->name);
        json_free(member->value);
    }
    free(value->u.object.members);
}

static const free_function frees[JSON_TYPES] = {
    free_nothing, free_nothing, free_nothing, free_string, free_array, free_object,
};

void json_free(json *value) {
    if (!value)
        return;
    frees[value->type](value);
    allocations--;
    free(value);
}

size_t json_count(const json *value) {
    switch (value->type) {
    case JSON_ARRAY:
        return value->u.array.count;
    case JSON_OBJECT:
        return value->u.object.count;
    case JSON_STRING:
        return value->u.string.length;
    default:
        break;
    }
    return 0;
}

json *json_at(const json *array, size_t index) {
    if (!json_is(array, ARRAY) || index >= array->u.array.count)
        return NULL;
    return array->u.array.items[index];
}

static struct json_member *find_member(const json *object, const char *name) {
    JSON_FOR_EACH(i, object) {
        struct json_member *member = &object->u.object.members[i];
        if (strcmp(member->name, name) == 0)
            return member;
    }
    return NULL;
}

json *json_get(const json *object, const char *name) {
    struct json_member *member = json_is(object, OBJECT) ? find_member(object, name) : NULL;
    return member ? member->value : NULL;
}

#define RESERVE(list, field)                                                                   \
    do {                                                                                       \
        if ((list).count == (list).capacity) {                                                 \
            size_t wanted = JSON_GROW((list).capacity);                                        \
            void *more = realloc((list).field, wanted * sizeof *(list).field);                 \
            if (more == NULL)                                                                  \
                return false;                                                                  \
            (list).field = more;                                                               \
            (list).capacity = wanted;                                                          \
        }                                                                                      \
    } while (0)

bool json_append(json *array, json *item) {
    if (!json_is(array, ARRAY))
        return false;
    RESERVE(array->u.array, items);
    array->u.array.items[array->u.array.count++] = item;
    return true;
}

static char *duplicate(const char *name) {
    size_t size = strlen(name) + 1;
    return memcpy(malloc(size), name, size);
}

/* True if the name is new; otherwise its value is replaced. */
bool json_set(json *object, const char *name, json *value) {
    struct json_member *member = find_member(object, name);
    if (member) {
        json_free(member->value);
        member->value = value;
        return false;
    }
    RESERVE(object->u.object, members);
    member = &object->u.object.members[object->u.object.count++];
    member->name = duplicate(name);
    member->value = value;
    return true;
}

static bool equal_always(const json *a, const json *b) {
    return a->type == b->type;
}

static bool equal_truth(const json *a, const json *b) {
    return a->u.truth == b->u.truth;
}

static bool equal_number(const json *a, const json *b) {
    double difference = a->u.number - b->u.number;
    return difference < 1e-9 && difference > -1e-9;
}

static bool equal_string(const json *a, const json *b) {
    return a->u.string.length == b->u.string.length &&
           memcmp(a->u.string.bytes, b->u.string.bytes, a->u.string.length) == 0;
}

static bool equal_array(const json *a, const json *b) {
    if (a->u.array.count != b->u.array.count)
        return false;
    JSON_FOR_EACH(i, a)
        if (!json_equal(a->u.array.items[i], b->u.array.items[i]))
            return false;
    return true;
}

static bool equal_object(const json *a, const json *b) {
    if (json_count(a) != json_count(b))
        return false;
    JSON_FOR_EACH(i, a) {
        const struct json_member *member = a->u.object.members + i;
        const json *other = json_get(b, member->name);
        if (other == NULL || !json_equal(member->value, other))
            return false;
    }
    return true;
}

bool json_equal(const json *a, const json *b) {
    static const equal_function equals[] = {
        [JSON_NULL] = equal_always,   [JSON_BOOL] = equal_truth,  [JSON_NUMBER] = equal_number,
        [JSON_STRING] = equal_string, [JSON_ARRAY] = equal_array, [JSON_OBJECT] = equal_object,
    };
    return a == b || (a->type == b->type && equals[a->type](a, b));
}

json *json_copy(const json *value) {
    if (json_is(value, STRING))
        return json_string(value->u.string.bytes, value->u.string.length);
    json *copy = json_new(value->type);
    if (value->type < JSON_STRING)
        copy->u = value->u;
    else if (value->type == JSON_ARRAY)
        JSON_FOR_EACH(i, value)
            json_append(copy, json_copy(json_at(value, i)));
    else
        JSON_FOR_EACH(i, value) {
            const struct json_member *member = &value->u.object.members[i];
            json_set(copy, member->name, json_copy(member->value));
        }
    return copy;
}

static int weight_scalar(const json *value) {
    return 1 + (int)value->type;
}

static int weight_list(const json *value) {
    int sum = 2;
    JSON_FOR_EACH(i, value)
        sum += value->type == JSON_ARRAY ? json_weight(value->u.array.items[i])
                                         : json_weight(value->u.object.members[i].value) + 1;
    return sum;
}

static const struct {
    weight_function function;
    int factor;
} weights[JSON_TYPES] = {
    {weight_scalar, 1}, {weight_scalar, 1}, {weight_scalar, 3},
    {weight_scalar, 2}, {weight_list, 1},   {weight_list, 2},
};

int json_weight(const json *value) {
    return weights[value->type].factor * weights[value->type].function(value);
}

/* "a.2.b": members by name, items by number. */
const json *json_path(const json *value, const char *path) {
    char step[16];
    while (*path && value) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof step)
            goto nothing;
        memcpy(step, path, length);
        step[length] = 0;
        path += length + (path[length] == '.');
        if (json_is(value, OBJECT)) {
            value = json_get(value, step);
        } else if (json_is(value, ARRAY)) {
            char *end;
            long index = strtol(step, &end, 10);
            if (*end != '\0' || index < 0)
                goto nothing;
            value = json_at(value, (size_t)index);
        } else {
            goto nothing;
        }
    }
    return value;
nothing:
    return NULL;
}

int json_alive(void) {
    return allocations;
}
