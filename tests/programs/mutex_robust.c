// A robust mutex whose owner died, first mended and then given up: each way to lock it ends as it does natively.
// MODE: verify
// LEVELS: O0 O1 O2 O3
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t m;
static int data;

static void *die(void *arg) {
  pthread_mutex_lock(&m);
  data++;
  return arg;
}

static void leave(void) {
  pthread_t t;
  pthread_create(&t, NULL, die, NULL);
  pthread_join(t, NULL);
}

int main(void) {
  struct timespec until, wrong = {0, -1};
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&m, &a);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1000;
  leave();
  printf("%d", pthread_mutex_lock(&m) == EOWNERDEAD);
  printf("%d", pthread_mutex_consistent(&m) == 0);
  pthread_mutex_unlock(&m);
  leave();
  printf("%d", pthread_mutex_timedlock(&m, &until) == EOWNERDEAD);
  pthread_mutex_unlock(&m);
  printf("%d", pthread_mutex_trylock(&m) == ENOTRECOVERABLE);
  pthread_mutex_destroy(&m);
  pthread_mutex_init(&m, &a);
  leave();
  printf("%d", pthread_mutex_trylock(&m) == EOWNERDEAD);
  pthread_mutex_unlock(&m);
  for (int i = 0; i < 2; i++) printf("%d", pthread_mutex_lock(&m) == ENOTRECOVERABLE);
  printf("%d", pthread_mutex_timedlock(&m, &until) == ENOTRECOVERABLE);
  pthread_mutex_destroy(&m);
  pthread_mutex_init(&m, NULL);
  printf("%d", pthread_mutex_clocklock(&m, 77, &until) == EINVAL);
  printf("%d\n", pthread_mutex_timedlock(&m, &wrong) == 0);
  return 0;
}
