// Histogram of pseudo-random 32-bit words, 4096 bins.
#include <stdio.h>
#include <stdlib.h>
static unsigned bins[4096], data[65536];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 7;
  for (int i = 0; i < 65536; i++) data[i] = s = s * 1664525u + 1013904223u;
  for (long r = 0; r < reps; r++)
    for (int i = 0; i < 65536; i++) bins[(data[i] >> (r & 7)) & 4095]++;
  unsigned long h = 0;
  for (int i = 0; i < 4096; i++) h = h * 31 + bins[i];
  printf("%lx\n", h);
}
