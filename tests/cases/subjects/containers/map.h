/* A hash map from strings to numbers, which remembers the order of its keys. */
#ifndef MAP_H
#define MAP_H

#include "list.h"
#include "settings.h"
#include "text.h"

enum map_event {
#define EVENT(name, level, text) MAP_##name,
#include "events.def"
#undef EVENT
    MAP_EVENTS
};

struct entry {
    struct link order;
    struct entry *chain;
    unsigned hash;
    long value;
    unsigned pinned : 1;
    unsigned uses : 3;
    struct text key;
};

typedef void map_listener(void *context, enum map_event event, const char *key);

struct map {
    struct link order;
    struct entry **buckets;
    count_t bucket_count;
    count_t count;
#if FEATURE_STATISTICS
    unsigned long events[MAP_EVENTS];
#endif
    map_listener *listener;
    void *context;
};

#if FEATURE_STATISTICS
#define MAP_COUNT(map, event) ((map)->events[event]++)
#define map_events(map, event) ((map)->events[MAP_##event])
#else
#define MAP_COUNT(map, event) ((void)0)
#define map_events(map, event) 0ul
#endif

#define MAP_EACH(item, map)                                                                    \
    LIST_EACH(item##_at, &(map)->order)                                                        \
    for (struct entry *item = ITEM(item##_at, struct entry, order); item; item = NULL)

void map_init(struct map *map);
void map_free(struct map *map);
int map_put(struct map *map, const char *key, long value);
long *map_find(struct map *map, const char *key);
int map_remove(struct map *map, const char *key);
void map_pin(struct map *map, const char *key);
void map_sort(struct map *map);
const char *map_event_name(enum map_event event);
const char *map_event_text(enum map_event event);
int map_event_level(enum map_event event);

static inline long map_get(struct map *map, const char *key, long otherwise) {
    const long *found = map_find(map, key);
    return found ? *found : otherwise;
}

#endif
