// An error-checking mutex: relocking (EDEADLK) and unlocking another's (EPERM) fail and acquire nothing.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m;
static int foreign;

static void *work(void *arg) {
  foreign = pthread_mutex_unlock(&m) == EPERM;
  return arg;
}

int main(void) {
  pthread_mutexattr_t a;
  pthread_t t;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&m, &a);
  pthread_mutex_lock(&m);
  int again = pthread_mutex_lock(&m) == EDEADLK;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  pthread_mutex_unlock(&m);
  int twice = pthread_mutex_unlock(&m) == EPERM;
  printf("%d %d %d\n", again, foreign, twice);
  return 0;
}
