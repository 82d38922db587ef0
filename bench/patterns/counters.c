// Two threads add to counters of one line: argv[1] thousand times each.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static volatile long counters[2];
static long times;
static void *count(void *counter) {
  volatile long *own = counter;
  for (long i = 0; i < times; i++)
    ++*own;
  return NULL;
}
int main(int argc, char **argv) {
  times = 1000 * (argc > 1 ? atol(argv[1]) : 1);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, count, (void *)&counters[i]);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("%ld\n", counters[0] + counters[1]);
}
