// Binary searches and a classification of their results by many branches.
#include <stdio.h>
#include <stdlib.h>
#define N 4096
static int sorted[N];
static unsigned long kinds[8];
static int find(int key) {
  int low = 0, high = N - 1;
  while (low <= high) {
    int middle = (low + high) / 2;
    if (sorted[middle] == key) return middle;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle - 1;
  }
  return -low - 1;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 9;
  for (int i = 0; i < N; i++) sorted[i] = i * 5 + (i & 3);
  for (long r = 0; r < reps; r++)
    for (int i = 0; i < 10000; i++) {
      s = s * 1664525u + 1013904223u;
      int at = find((int)(s >> 17));
      if (at < 0) kinds[at < -N / 2 ? 0 : 1]++;
      else if (at & 1) kinds[at & 2 ? 2 : 3]++;
      else if (at % 3 == 0) kinds[4]++;
      else if (at > N / 3) kinds[at > N / 2 ? 5 : 6] += (unsigned)at;
      else kinds[7]++;
    }
  unsigned long h = 0;
  for (int i = 0; i < 8; i++) h = h * 31 + kinds[i];
  printf("%lu\n", h);
}
