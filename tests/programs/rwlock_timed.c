// Timed read and write locks that run out, and one that does not.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *arg) {
  struct timespec past = {1, 0};
  int *late = arg;
  late[0] = pthread_rwlock_timedrdlock(&l, &past) == ETIMEDOUT;
  late[1] = pthread_rwlock_timedwrlock(&l, &past) == ETIMEDOUT;
  return NULL;
}

int main(void) {
  struct timespec future;
  pthread_t t;
  int late[2] = {0, 0};
  clock_gettime(CLOCK_REALTIME, &future);
  future.tv_sec += 1000;
  int ok = pthread_rwlock_timedwrlock(&l, &future) == 0;
  pthread_create(&t, NULL, work, late);
  pthread_join(t, NULL);
  pthread_rwlock_unlock(&l);
  printf("%d %d %d\n", ok, late[0], late[1]);
  return 0;
}
