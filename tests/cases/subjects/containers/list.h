/* Doubly linked lists whose links live inside of the items. */
#ifndef LIST_H
#define LIST_H

#include <stddef.h>

struct link {
    struct link *next;
    struct link *previous;
};

#define LIST(name) struct link name = {&(name), &(name)}
#define ITEM(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define LIST_EACH(at, list) for (struct link *at = (list)->next; at != (list); at = at->next)
#define LIST_EACH_SAFE(at, after, list)                                                        \
    for (struct link *at = (list)->next, *after = at->next; at != (list); at = after, after = at->next)

static inline void list_init(struct link *list) {
    list->next = list->previous = list;
}

static inline int list_is_empty(const struct link *list) {
    return list->next == list;
}

static inline void list_insert(struct link *before, struct link *item) {
    item->next = before;
    item->previous = before->previous;
    before->previous->next = item;
    before->previous = item;
}

static inline void list_push(struct link *list, struct link *item) {
    list_insert(list, item);
}

static inline void list_push_front(struct link *list, struct link *item) {
    list_insert(list->next, item);
}

static inline void list_remove(struct link *item) {
    item->previous->next = item->next;
    item->next->previous = item->previous;
    list_init(item);
}

static inline unsigned list_length(const struct link *list) {
    unsigned length = 0;
    for (const struct link *at = list->next; at != list; at = at->next)
        ++length;
    return length;
}

typedef int list_order(const struct link *, const struct link *);

void list_sort(struct link *list, list_order *order);
void list_reverse(struct link *list);

#endif
