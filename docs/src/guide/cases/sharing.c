// Four threads sum up what they draw, each in its own part of an array. FIXED: each part has a cache line of its own.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, DRAWS = 1000000 };
struct part {
  unsigned long state, sum;
#ifdef FIXED
  _Alignas(64) char pad;
#endif
};
static struct part parts[THREADS];

static void *draw(void *argument) {
  volatile struct part *own = argument;
  for (int i = 0; i < DRAWS; i++) {
    own->state = own->state * 6364136223846793005u + 1442695040888963407u;
    own->sum += own->state >> 60;
  }
  return NULL;
}

int main(void) {
  pthread_t thread[THREADS];
  unsigned long sum = 0;
  for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, draw, &parts[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL), sum += parts[t].sum;
  printf("%lu\n", sum);
}
