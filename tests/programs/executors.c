// A signal handler is executed by the thread that it interrupts, and destructors of a thread's data by that thread.
// MODE: verify
// CHECK: executors
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static _Thread_local volatile int mine;
static pthread_key_t key;
static pthread_barrier_t all;

__attribute__((noinline)) static void here(void) { mine = 1; }

static void on_signal(int s) {
    (void)s;
    here();
}

static void at_end(void *value) {
    (void)value;
    here();
    // No stack, and so no variable, is used again by another thread.
    pthread_barrier_wait(&all);
}

static void *work(void *arg) {
    pthread_setspecific(key, &all);
    raise(SIGUSR1);
    here();
    return arg;
}

int main(void) {
    pthread_t threads[3];
    signal(SIGUSR1, on_signal);
    pthread_key_create(&key, at_end);
    pthread_barrier_init(&all, NULL, 4);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    raise(SIGUSR1);
    here();
    pthread_barrier_wait(&all);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("4\n");
    return 0;
}
