// Rounds of work between barriers. Whose work is it that another thread's goes on beside? The first argument is the number of
// the thread that looks; the second one how the threads wait for each other. Prints how often it saw another at work.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { THREADS = 3, ROUNDS = 4 };
static volatile long work_done[THREADS * 16];
static volatile int at_work[THREADS * 16];
static int looks, beside;
static const char *how;
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int arrived, generation;
static volatile int spinning;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void wait_for_all(void) {
#ifdef _OPENMP
#pragma omp barrier
    return;
#endif
    if (!strcmp(how, "barrier")) {
        pthread_barrier_wait(&barrier);
    } else if (!strcmp(how, "condition")) {
        pthread_mutex_lock(&mutex);
        int mine = generation;
        if (++arrived == THREADS) {
            arrived = 0;
            generation++;
            pthread_cond_broadcast(&condition);
        }
        while (mine == generation)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
    } else {
        int mine = __atomic_add_fetch(&spinning, 1, __ATOMIC_ACQ_REL);
        int all = (mine + THREADS - 1) / THREADS * THREADS;
        while (__atomic_load_n(&spinning, __ATOMIC_ACQUIRE) < all)
            if (!strcmp(how, "yield"))
                sched_yield();
    }
}

static void round_of(int self) {
    at_work[self * 16] = 1;
    long before[THREADS];
    for (int i = 0; i < THREADS; ++i)
        before[i] = work_done[i * 16];
    for (double until = now() + 0.03; now() < until;)
        work_done[self * 16]++;
    for (int i = 0; i < THREADS; ++i)
        if (self == looks && i != self && work_done[i * 16] != before[i])
            beside++;
    at_work[self * 16] = 0;
}

static void *thread(void *number) {
    int self = (int)(long)number;
    for (int round = 0; round < ROUNDS; ++round) {
        round_of(self);
        wait_for_all();
    }
    round_of(self);
    return 0;
}

int main(int count, char **words) {
    looks = count > 1 ? atoi(words[1]) : 0;
    how = count > 2 ? words[2] : "barrier";
    for (int phase = 0; phase < 2; ++phase) {
#ifdef _OPENMP
#pragma omp parallel num_threads(THREADS)
        thread((void *)(long)omp_get_thread_num());
#else
        pthread_t threads[THREADS];
        pthread_barrier_init(&barrier, 0, THREADS);
        for (long i = 0; i < THREADS; ++i)
            pthread_create(&threads[i], 0, thread, (void *)i);
        for (int i = 0; i < THREADS; ++i)
            pthread_join(threads[i], 0);
#endif
    }
    fprintf(stderr, "%d beside\n", beside);
    printf("done\n");
    return 0;
}
