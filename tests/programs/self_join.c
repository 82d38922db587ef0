// Joining oneself fails with EDEADLK and is not a join; so does joining twice a detached thread (EINVAL).
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static void *work(void *arg) {
  turn_wait(1);
  turn_set(2);
  return arg;
}

int main(void) {
  pthread_t t;
  printf("%d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
  pthread_create(&t, NULL, work, NULL);
  pthread_detach(t);
  printf("%d\n", pthread_join(t, NULL) == EINVAL);
  turn_set(1);
  turn_wait(2);
  return 0;
}
