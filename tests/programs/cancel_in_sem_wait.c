// A thread that takes from a semaphore that is never empty is cancelled there, and one that asks for a time that is
// none gets nothing: a call that does not wait is no other call.
// MODE: verify
// LEVELS: O0 O1 O2 O3
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static sem_t s, begun;

static void *work(void *arg) {
  sem_post(&begun);
  for (;;) {
    sem_wait(&s);
    sem_post(&s);
  }
  return arg;
}

int main(void) {
  struct timespec wrong = {0, -1};
  pthread_t t;
  void *result;
  sem_init(&s, 0, 1);
  sem_init(&begun, 0, 0);
  pthread_create(&t, NULL, work, NULL);
  sem_wait(&begun);
  pthread_cancel(t);
  pthread_join(t, &result);
  errno = 0;
  int failed = sem_timedwait(&s, &wrong) == -1 && errno == EINVAL;
  printf("%d %d\n", result == PTHREAD_CANCELED, failed);
  return 0;
}
