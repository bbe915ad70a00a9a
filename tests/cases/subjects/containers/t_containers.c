#include "list.h"
#include "map.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

static int failed;

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'))
#define EXPECT(actual, wanted)                                                                 \
    do {                                                                                       \
        long is_ = (long)(actual), should_ = (long)(wanted);                                   \
        if (is_ != should_) {                                                                  \
            SAY("%s is %ld, not %ld", #actual, is_, should_);                                  \
            failed = 1;                                                                        \
        }                                                                                      \
    } while (0)

struct number {
    int value;
    struct link link;
    char tag;
};

static struct number *number_of(struct link *link) {
    return ITEM(link, struct number, link);
}

static void show_list(struct link *list) {
    LIST_EACH(at, list)
        printf("%d%c ", number_of(at)->value, number_of(at)->tag);
    SAY("(%u)", list_length(list));
}

static void fill(struct link *list, struct number *numbers, const int *values, int count) {
    for (int i = 0; i < count; i++) {
        numbers[i].value = values[i];
        numbers[i].tag = (char)('a' + i);
        list_push(list, &numbers[i].link);
    }
}

static int by_value(const struct link *a, const struct link *b) {
    return ITEM(a, struct number, link)->value - ITEM(b, struct number, link)->value;
}

static const int some[] = {5, 3, 8, 3, 1};
enum { SOME = sizeof some / sizeof some[0] };

static void list_pushes(void) {
    struct number a = {.value = 1, .tag = 'x'}, b = {.value = 2, .tag = 'y'};
    LIST(list);
    EXPECT(list_is_empty(&list), 1);
    list_push(&list, &a.link);
    list_push_front(&list, &b.link);
    show_list(&list);
}

static void list_removes(void) {
    struct number numbers[SOME];
    LIST(list);
    fill(&list, numbers, some, SOME);
    list_remove(&numbers[2].link);
    list_remove(list.next);
    show_list(&list);
    EXPECT(list_is_empty(&numbers[2].link), 1);
}

static void list_sorts(void) {
    struct number numbers[SOME];
    LIST(list);
    fill(&list, numbers, some, SOME);
    list_sort(&list, by_value);
    show_list(&list);
}

static void list_reverses(void) {
    struct number numbers[SOME];
    LIST(list);
    list_reverse(&list);
    EXPECT(list_length(&list), 0);
    fill(&list, numbers, some, SOME);
    list_reverse(&list);
    show_list(&list);
}

static void show_text(const struct text *text) {
    SAY("'%s' %u %s", text->bytes, (unsigned)text->length, text_is_inside(text) ? "inside" : "outside");
}

static void text_grows(void) {
    struct text text;
    text_init(&text);
    for (char c = 'a'; c <= 'p'; c++) {
        text_put(&text, c);
        if (c % 5 == 0)
            show_text(&text);
    }
    EXPECT(text.capacity, 16 + 16);
    text_free(&text);
    show_text(&text);
}

static void text_adds(void) {
    struct text text;
    text_init(&text);
    text_add(&text, "one", ", ", "two");
    show_text(&text);
    text_add(&text, " and three");
    show_text(&text);
    text_cut(&text, 3);
    show_text(&text);
    text_free(&text);
}

static void text_formats(void) {
    struct text text;
    text_init(&text);
    EXPECT(text_format(&text, "%d-%s", 7, "x"), 3);
    EXPECT(text_format(&text, "%s", "a text that is longer than the small room"), 41);
    show_text(&text);
    text_free(&text);
}

static void text_replaces(void) {
    struct text text;
    text_init(&text);
    text_add(&text, "a-b-c");
    EXPECT(text_replace(&text, "-", " + "), 2);
    EXPECT(text_replace(&text, "?", "!"), 0);
    EXPECT(text_replace(&text, "", "!"), 0);
    show_text(&text);
    text_free(&text);
}

static void text_compares(void) {
    static const char *const words[] = {"ab", "abc", "b", ""};
    struct text texts[4];
    for (int i = 0; i < 4; i++) {
        text_init(&texts[i]);
        text_add(&texts[i], words[i]);
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            int order = text_compare(&texts[i], &texts[k]);
            printf("%c", order < 0 ? '<' : order > 0 ? '>' : '=');
        }
    SAY("%s", "");
}

static void show_map(struct map *map) {
    MAP_EACH(entry, map)
        printf("%s=%ld/%u ", entry->key.bytes, entry->value, entry->uses);
    SAY("(%u in %u)", (unsigned)map->count, (unsigned)map->bucket_count);
}

static void map_puts(void) {
    struct map map;
    map_init(&map);
    EXPECT(map_put(&map, "one", 1), 1);
    EXPECT(map_put(&map, "two", 2), 1);
    EXPECT(map_put(&map, "one", 11), 0);
    EXPECT(map_get(&map, "one", -1), 11);
    EXPECT(map_get(&map, "six", -1), -1);
    show_map(&map);
    map_free(&map);
}

static void map_grows(void) {
    struct map map;
    struct text key;
    map_init(&map);
    text_init(&key);
    for (int i = 0; i < 20; i++) {
        text_clear(&key);
        text_format(&key, "key %d", i * i);
        map_put(&map, key.bytes, i);
    }
    show_map(&map);
    EXPECT(map_events(&map, grown), 4);
    text_free(&key);
    map_free(&map);
}

static void map_removes(void) {
    struct map map;
    map_init(&map);
    EXPECT(map_remove(&map, "a"), 0);
    for (const char *key = "abcdefg"; *key; key++)
        map_put(&map, key, *key);
    EXPECT(map_remove(&map, "cdefg"), 1);
    EXPECT(map_remove(&map, "cdefg"), 0);
    show_map(&map);
    map_free(&map);
}

static void map_pins(void) {
    struct map map;
    map_init(&map);
    map_put(&map, "fixed", 1);
    map_pin(&map, "fixed");
    map_pin(&map, "unknown");
    EXPECT(map_put(&map, "fixed", 2), 0);
    EXPECT(map_remove(&map, "fixed"), 0);
    EXPECT(map_get(&map, "fixed", 0), 1);
    map_free(&map);
}

static void map_sorts(void) {
    struct map map;
    map_init(&map);
    for (int i = 0; i < 6; i++)
        map_put(&map, &"zyxwvu"[i], i);
    for (int i = 0; i < 9; i++)
        map_find(&map, "wvu");
    map_find(&map, "vu");
    map_sort(&map);
    show_map(&map);
    map_free(&map);
}

static void listen(void *context, enum map_event event, const char *key) {
    text_format(context, "%s(%s) ", map_event_name(event), key);
}

static void map_tells(void) {
    struct map map;
    struct text heard;
    map_init(&map);
    text_init(&heard);
    map.listener = listen;
    map.context = &heard;
    map_put(&map, "k", 1);
    map_put(&map, "k", 2);
    map_remove(&map, "k");
    map_find(&map, "k");
    show_text(&heard);
    EXPECT(map_events(&map, missed), 1);
    text_free(&heard);
    map_free(&map);
}

static void map_explains(void) {
    for (int event = 0; event <= MAP_EVENTS; event++)
        SAY("%d: %s", map_event_level(event), event < MAP_EVENTS ? map_event_text(event) : "-");
}

static void layouts(void) {
    SAY("%zu %zu", sizeof(struct link) / sizeof(void *), offsetof(struct entry, hash) / sizeof(void *));
    SAY("%zu %zu", offsetof(struct number, link), offsetof(struct text, inside));
    SAY("%zu", sizeof(struct text));
}

#define ALL_TESTS(X)                                                                           \
    X(list_pushes) X(list_removes) X(list_sorts) X(list_reverses) X(text_grows) X(text_adds)   \
    X(text_formats) X(text_replaces) X(text_compares) X(map_puts) X(map_grows) X(map_removes)  \
    X(map_pins) X(map_sorts) X(map_tells) X(map_explains) X(layouts)

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : NULL;
#define RUN(test)                                                                              \
    if (wanted == NULL)                                                                        \
        puts(#test);                                                                           \
    else if (strcmp(wanted, #test) == 0) {                                                     \
        test();                                                                                \
        return failed;                                                                         \
    }
    ALL_TESTS(RUN)
    return wanted ? EXIT_FAILURE : EXIT_SUCCESS;
}
