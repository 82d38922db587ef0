// pthread_mutex_trylock: one success, one failure, which is a task without edges.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int busy;

static void *work(void *arg) {
  busy = pthread_mutex_trylock(&m) == EBUSY;
  return arg;
}

int main(void) {
  pthread_t t;
  int ok = pthread_mutex_trylock(&m) == 0;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  pthread_mutex_unlock(&m);
  printf("%d %d\n", ok, busy);
  return 0;
}
