// Two threads hammer one mutex; each critical section writes who it was. The chain of the graph must give
// the same sequence.
// MODE: verify
// CHECK: lock-order
// ARGS: 150000
// COUNT: mutex_lock 300000
// COUNT: mutex_unlock 300000
// LEVELS: O2
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char *owners;
static long n, each;
static pthread_barrier_t start;

static void *work(void *arg) {
  pthread_barrier_wait(&start);
  for (long i = 0; i < each; i++) {
    pthread_mutex_lock(&m);
    owners[n++] = *(const char *)arg;
    pthread_mutex_unlock(&m);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t t[2];
  each = argc > 1 ? atol(argv[1]) : 1000;
  owners = malloc((size_t)(2 * each) + 1);
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&t[0], NULL, work, "1"); // the recorder numbers contexts in order of creation
  pthread_create(&t[1], NULL, work, "2");
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  owners[n] = 0;
  puts(owners);
  return n == 2 * each ? 0 : 1;
}
