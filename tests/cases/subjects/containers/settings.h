/* What can be chosen when the library is built. */
#ifndef SETTINGS_H
#define SETTINGS_H

#ifndef SMALL_MACHINE
#define SMALL_MACHINE 0
#endif

#define FEATURE_STATISTICS 1
#define HASH_KIND 2

#if SMALL_MACHINE
#define FIRST_BUCKETS 2
typedef unsigned short count_t;
#else
#define FIRST_BUCKETS 4
typedef unsigned int count_t;
#endif

#if HASH_KIND == 1
#define HASH_SEED 5381u
#elif HASH_KIND == 2
#define HASH_SEED 2166136261u
#else
#error "no such hash"
#endif

#define LOAD_PERCENT 75
#define TEXT_INLINE 12

#endif
