#include "map.h"

#include <stdlib.h>

static const struct {
    const char *name;
    int level;
    const char *text;
} events[] = {
#define EVENT(name, level, text) {#name, level, text},
#include "events.def"
#undef EVENT
};

const char *map_event_name(enum map_event event) {
    return events[event].name;
}

const char *map_event_text(enum map_event event) {
    return events[event].text;
}

int map_event_level(enum map_event event) {
    switch (event) {
#define EVENT(name, level, text) case MAP_##name: return level;
#include "events.def"
#undef EVENT
    default:
        return -1;
    }
}

#if HASH_KIND == 1
static unsigned hash_of(const char *key) {
    unsigned hash = HASH_SEED;
    while (*key)
        hash = hash * 33u + (unsigned char)*key++;
    return hash;
}
#else
static unsigned hash_of(const char *key) {
    unsigned hash = HASH_SEED;
    for (; *key; key++) {
        hash ^= (unsigned char)*key;
        hash *= 16777619u;
    }
    return hash;
}
#endif

static void tell(struct map *map, enum map_event event, const char *key) {
    MAP_COUNT(map, event);
    if (map->listener)
        map->listener(map->context, event, key);
}

void map_init(struct map *map) {
    memset(map, 0, sizeof *map);
    list_init(&map->order);
}

static void free_entry(struct entry *entry) {
    text_free(&entry->key);
    free(entry);
}

void map_free(struct map *map) {
    LIST_EACH_SAFE(at, after, &map->order)
        free_entry(ITEM(at, struct entry, order));
    free(map->buckets);
    map_init(map);
}

static void grow(struct map *map) {
    count_t wanted = map->bucket_count ? map->bucket_count * 2 : FIRST_BUCKETS;
    struct entry **buckets = calloc(wanted, sizeof *buckets);
    if (!buckets)
        abort();
    MAP_EACH(entry, map) {
        struct entry **bucket = &buckets[entry->hash % wanted];
        entry->chain = *bucket;
        *bucket = entry;
    }
    free(map->buckets);
    map->buckets = buckets;
    map->bucket_count = wanted;
    tell(map, MAP_grown, "");
}

static struct entry **slot_of(struct map *map, unsigned hash, const char *key) {
    struct entry **slot = &map->buckets[hash % map->bucket_count];
    while (*slot && ((*slot)->hash != hash || strcmp((*slot)->key.bytes, key) != 0))
        slot = &(*slot)->chain;
    return slot;
}

/* True if the key is new. */
int map_put(struct map *map, const char *key, long value) {
    unsigned hash = hash_of(key);
    struct entry **slot, *entry;
    if ((map->count + 1) * 100 > map->bucket_count * LOAD_PERCENT)
        grow(map);
    slot = slot_of(map, hash, key);
    if (*slot) {
        if (!(*slot)->pinned)
            (*slot)->value = value;
        tell(map, MAP_replaced, key);
        return 0;
    }
    entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        abort();
    entry->hash = hash;
    entry->value = value;
    text_init(&entry->key);
    text_add(&entry->key, key);
    list_push(&map->order, &entry->order);
    *slot = entry;
    map->count++;
    tell(map, MAP_added, key);
    return 1;
}

static struct entry *find(struct map *map, const char *key) {
    return map->count == 0 ? NULL : *slot_of(map, hash_of(key), key);
}

long *map_find(struct map *map, const char *key) {
    struct entry *entry = find(map, key);
    if (!entry) {
        tell(map, MAP_missed, key);
        return NULL;
    }
    if (entry->uses < 7)
        entry->uses++;
    return &entry->value;
}

int map_remove(struct map *map, const char *key) {
    if (map->count == 0)
        return 0;
    struct entry **slot = slot_of(map, hash_of(key), key), *entry = *slot;
    if (!entry || entry->pinned)
        return 0;
    *slot = entry->chain;
    list_remove(&entry->order);
    map->count--;
    tell(map, MAP_removed, key);
    free_entry(entry);
    return 1;
}

void map_pin(struct map *map, const char *key) {
    struct entry *entry = find(map, key);
    if (entry)
        entry->pinned = 1;
}

static int by_use(const struct link *a, const struct link *b) {
    const struct entry *left = ITEM(a, struct entry, order), *right = ITEM(b, struct entry, order);
    if (left->uses != right->uses)
        return left->uses < right->uses ? 1 : -1;
    return text_compare(&left->key, &right->key);
}

/* What is used most comes first. */
void map_sort(struct map *map) {
    list_sort(&map->order, by_use);
}
