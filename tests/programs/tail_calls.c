// Callbacks of the C library that end in a tail call of an intercepted function: the call is the program's,
// although its return address is in the library.
// MODE: verify
// COUNT: mutex_lock 12
// COUNT: mutex_unlock 12
// COUNT: sem_post 2
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;
static pthread_key_t key;
static int calls, order[3] = {3, 1, 2};

static int unlock(void) {
  calls++;
  return pthread_mutex_unlock(&m);
}
static void destroy(void *arg) {
  pthread_mutex_lock(arg);
  unlock();
}
static int compare(const void *a, const void *b) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return *(const int *)a - *(const int *)b;
}
static void *posts(void *arg) {
  pthread_setspecific(key, &m);
  return (void *)(long)sem_post(arg);
}
static void at_exit(void) { pthread_mutex_unlock(&m); }

int main(void) {
  pthread_t t;
  sem_init(&s, 0, 0);
  pthread_key_create(&key, destroy);
  for (int i = 0; i < 2; i++) {
    pthread_create(&t, NULL, posts, &s);
    pthread_join(t, NULL);
  }
  int before = 0;
  for (int i = 0; i < 2; i++) before += sem_trywait(&s) == 0;
  qsort(order, 3, sizeof order[0], compare);
  for (int i = calls; i < 8; i++) {
    pthread_mutex_lock(&m);
    unlock();
  }
  printf("%d %d %d\n", before, calls, order[0]);
  fflush(stdout);
  pthread_mutex_lock(&m);
  atexit(at_exit);
  return 0;
}
