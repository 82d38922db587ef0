// Breadth-first search in a random graph of 2^14 nodes and 2^17 edges in compressed rows.
#include <stdio.h>
#include <stdlib.h>
#define NODES 16384
#define DEGREE 8
static unsigned edges[NODES * DEGREE], queue[NODES];
static int level[NODES];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 13;
  unsigned long sum = 0;
  for (unsigned i = 0; i < NODES * DEGREE; i++) edges[i] = (s = s * 1664525u + 1013904223u) >> 18;
  for (long r = 0; r < reps; r++) {
    for (unsigned i = 0; i < NODES; i++) level[i] = -1;
    unsigned head = 0, tail = 0;
    queue[tail++] = (unsigned)r % NODES;
    level[queue[0]] = 0;
    while (head < tail) {
      unsigned n = queue[head++];
      for (unsigned e = n * DEGREE; e < (n + 1) * DEGREE; e++)
        if (level[edges[e]] < 0) {
          level[edges[e]] = level[n] + 1;
          queue[tail++] = edges[e];
        }
    }
    sum += (unsigned long)level[queue[tail - 1]] + tail;
  }
  printf("%lu\n", sum);
}
