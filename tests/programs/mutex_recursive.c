// A recursive mutex: every acquire and every release is a Sync; another thread's trylock fails between.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m;
static int failed;

static void *work(void *arg) {
  failed = pthread_mutex_trylock(&m) == EBUSY;
  return arg;
}

static void down(int depth) {
  pthread_mutex_lock(&m);
  if (depth > 0) {
    down(depth - 1);
  } else {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
  }
  pthread_mutex_unlock(&m);
}

int main(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &a);
  down(2);
  printf("%d\n", failed);
  return 0;
}
