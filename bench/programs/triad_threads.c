// The triad by two threads, a barrier each hundred rounds.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define N 16384
static double a[N], b[N], c[N];
static long reps;
static pthread_barrier_t barrier;
static void *half(void *arg) {
  int from = arg ? N / 2 : 0, to = from + N / 2;
  for (long r = 0; r < reps; r++) {
    double k = (double)r * 0.5;
    for (int i = from; i < to; i++) a[i] = b[i] + k * c[i];
    b[from + r % (N / 2)] = a[from] * 1e-9;
    if (r % 100 == 0) pthread_barrier_wait(&barrier);
  }
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t t;
  reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N; i++) b[i] = i, c[i] = N - i;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&t, NULL, half, &t);
  half(NULL);
  pthread_join(t, NULL);
  double s = 0;
  for (int i = 0; i < N; i++) s += a[i];
  printf("%.6e\n", s);
}
