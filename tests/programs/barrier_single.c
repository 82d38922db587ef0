// A barrier for one: nobody to wait for, still one Barrier task; then reinitialised for two.
// MODE: golden
// LEVELS: O0 O2
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t b;
static volatile int passed;

static void *work(void *arg) {
  pthread_barrier_wait(&b);
  passed++;
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_barrier_init(&b, NULL, 1);
  printf("%d\n", pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
  pthread_barrier_destroy(&b);
  pthread_barrier_init(&b, NULL, 2);
  pthread_create(&t, NULL, work, NULL);
  pthread_barrier_wait(&b);
  pthread_join(t, NULL);
  return 0;
}
