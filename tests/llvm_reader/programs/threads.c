#include <pthread.h>
static void *run(void *x) { return x; }
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, 0, run, 0) || pthread_join(thread, 0);
}
