// Two threads draw 10^6 numbers from one atomic counter: the graph has the draws in the order of the numbers.
// MODE: verify
// CHECK: log-order
// ARGS: 150000
// COUNT: atomic_rmw 300000
// LEVELS: O2
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static int entries[1000000];
static int each;
static atomic_int counter;
static pthread_barrier_t start;

static void *work(void *arg) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < each; i++) {
    int mine = atomic_fetch_add(&counter, 1);
    *(volatile int *)&entries[mine] = mine;
  }
  return arg;
}

int main(int argc, char **argv) {
  each = argc > 1 ? atoi(argv[1]) : 500;
  pthread_t t[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  printf("tickets %p %d %zu\n", (void *)entries, 2 * each, sizeof entries[0]);
  return 0;
}
