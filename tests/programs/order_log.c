// Two threads hammer one mutex: the graph has the sections in their order.
// MODE: verify
// CHECK: log-order
// ARGS: 150000
// COUNT: mutex_lock 300000
// COUNT: mutex_unlock 300000
// LEVELS: O2
#define SECTIONS 300000
#include "order.h"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int each;
static pthread_barrier_t start;

static void *work(void *arg) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < each; i++) {
    pthread_mutex_lock(&m);
    section();
    pthread_mutex_unlock(&m);
  }
  return arg;
}

int main(int argc, char **argv) {
  each = argc > 1 ? atoi(argv[1]) : 1000;
  pthread_t t[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return report(2 * each);
}
