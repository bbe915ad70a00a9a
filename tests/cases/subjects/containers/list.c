#include "list.h"

/* Insertion sort: stable, and lists are short. */
void list_sort(struct link *list, list_order *order) {
    LIST(sorted);
    LIST_EACH_SAFE(at, after, list) {
        struct link *place = sorted.previous;
        list_remove(at);
        while (place != &sorted && order(place, at) > 0)
            place = place->previous;
        list_insert(place->next, at);
    }
    while (!list_is_empty(&sorted)) {
        struct link *first = sorted.next;
        list_remove(first);
        list_push(list, first);
    }
}

void list_reverse(struct link *list) {
    struct link *at = list;
    do {
        struct link *next = at->next;
        at->next = at->previous;
        at->previous = next;
        at = next;
    } while (at != list);
}
