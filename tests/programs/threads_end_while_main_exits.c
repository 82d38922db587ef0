// Sixteen detached threads and main meet; then the threads end while main returns. Everything they did
// before they met is in the graph, whoever was faster after.
// MODE: verify
// COUNT: mutex_lock 16
// REPEAT: 10
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t all;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int sums[64];

static void *work(void *arg) {
  for (int i = 0; i < 1000; i++) sums[i & 63] += i;
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  pthread_barrier_wait(&all);
  return arg;
}

int main(void) {
  pthread_barrier_init(&all, NULL, 17);
  for (int i = 0; i < 16; i++) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_detach(t);
  }
  puts("main returns");
  fflush(stdout);
  pthread_barrier_wait(&all);
  return 0;
}
