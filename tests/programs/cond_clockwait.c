// pthread_cond_clockwait and a condition on the monotonic clock, both running out.
// MODE: golden
// LEVELS: O0 O2
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

int main(void) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t c;
  pthread_condattr_t a;
  struct timespec past = {0, 1};
  pthread_condattr_init(&a);
  pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
  pthread_cond_init(&c, &a);
  pthread_mutex_lock(&m);
  int one = pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT;
  int two = pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &past) == ETIMEDOUT;
  pthread_mutex_unlock(&m);
  pthread_cond_destroy(&c);
  printf("%d %d\n", one, two);
  return 0;
}
