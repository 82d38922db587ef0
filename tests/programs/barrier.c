// Three threads pass one barrier three times: one Barrier task per generation, all arrive, all leave.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t b;
static int x[3], serial[3];

static void *work(void *arg) {
  int i = (int)(long)arg;
  for (int g = 0; g < 3; g++) {
    x[i] += g;
    if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
      __atomic_fetch_add(&serial[g], 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pthread_barrier_init(&b, NULL, 3);
  pthread_create(&t[0], NULL, work, (void *)0);
  pthread_create(&t[1], NULL, work, (void *)1);
  work((void *)2);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  pthread_barrier_destroy(&b);
  printf("%d %d %d / %d %d %d\n", x[0], x[1], x[2], serial[0], serial[1], serial[2]);
  return 0;
}
