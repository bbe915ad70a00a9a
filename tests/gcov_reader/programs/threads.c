/* Threads that lose each other's updates; only a widened reading is safe. */
#include "ran.h"

#include <pthread.h>

static int odd, even;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 300000; i++) {
        if (i % 3 == 1)
            odd++;
        else
            even++;
    }
    RAN;
    return 0;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    RAN;
    return 0;
}
