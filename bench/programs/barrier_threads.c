// Two threads relaxing halves of a line, a barrier after every sweep.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define N 4096
static double line[2][N];
static pthread_barrier_t all;
static long reps;
static void *half(void *arg) {
  int from = arg ? N / 2 : 1, to = arg ? N - 1 : N / 2;
  for (long r = 0; r < reps; r++) {
    double *a = line[r & 1], *b = line[~r & 1];
    for (int i = from; i < to; i++) b[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) / 4;
    pthread_barrier_wait(&all);
  }
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t t;
  reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N; i++) line[0][i] = line[1][i] = i % 97;
  pthread_barrier_init(&all, NULL, 2);
  pthread_create(&t, NULL, half, &t);
  half(NULL);
  pthread_join(t, NULL);
  double h = 0;
  for (int i = 0; i < N; i++) h += line[reps & 1][i] * (i & 3);
  printf("%.6e\n", h);
}
