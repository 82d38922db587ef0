// Each state for about 200 ms: a lock held by another, a condition, a semaphore, a barrier, a spin lock, a join, sleep.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier, go;
static pthread_spinlock_t spin;
static sem_t semaphore;
static int ready;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// Busy, not asleep.
static void work(void) {
    for (double until = now() + 0.2; now() < until;) {}
}

static void *other(void *none) {
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&go);
    work();
    pthread_mutex_unlock(&mutex);

    pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_wait(&go);
    work();
    pthread_rwlock_unlock(&rwlock);

    pthread_spin_lock(&spin);
    pthread_barrier_wait(&go);
    work();
    pthread_spin_unlock(&spin);

    pthread_barrier_wait(&go);
    work();
    pthread_mutex_lock(&inner);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&inner);

    pthread_barrier_wait(&go);
    work();
    sem_post(&semaphore);

    pthread_barrier_wait(&go);
    work();
    pthread_barrier_wait(&barrier);
    work();
    return none;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_barrier_init(&go, 0, 2);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, 0, other, 0);

    pthread_barrier_wait(&go);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);

    pthread_barrier_wait(&go);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);

    pthread_barrier_wait(&go);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);

    pthread_barrier_wait(&go);
    pthread_mutex_lock(&inner);
    while (!ready)
        pthread_cond_wait(&condition, &inner);
    pthread_mutex_unlock(&inner);

    pthread_barrier_wait(&go);
    sem_wait(&semaphore);

    pthread_barrier_wait(&go);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, 0);
    nanosleep(&(struct timespec){0, 200000000}, 0);
    printf("done\n");
    return 7;
}
