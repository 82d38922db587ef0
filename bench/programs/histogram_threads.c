// The histogram by two threads with bins of their own, merged under a mutex.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned bins[4096], data[65536];
static long reps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *half(void *arg) {
  unsigned own[4096] = {0};
  int from = arg ? 32768 : 0;
  for (long r = 0; r < reps; r++) {
    for (int i = from; i < from + 32768; i++) own[(data[i] >> (r & 7)) & 4095]++;
    if (r % 50 == 49 || r == reps - 1) {
      pthread_mutex_lock(&lock);
      for (int i = 0; i < 4096; i++) bins[i] += own[i], own[i] = 0;
      pthread_mutex_unlock(&lock);
    }
  }
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t t;
  unsigned s = 7;
  reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < 65536; i++) data[i] = s = s * 1664525u + 1013904223u;
  pthread_create(&t, NULL, half, &t);
  half(NULL);
  pthread_join(t, NULL);
  unsigned long h = 0;
  for (int i = 0; i < 4096; i++) h = h * 31 + bins[i];
  printf("%lx\n", h);
}
