// Follows a pointer cycle through 2^15 nodes in random order.
#include <stdio.h>
#include <stdlib.h>
#define N 32768
struct Node {
  struct Node *next;
  long value, seen;
};
static struct Node nodes[N];
static unsigned order[N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1, sum = 0;
  unsigned s = 3;
  for (unsigned i = 0; i < N; i++) order[i] = i;
  for (unsigned i = N - 1; i > 0; i--) {
    unsigned j = (unsigned)((s = s * 1664525u + 1013904223u) >> 8) % (i + 1), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  for (unsigned i = 0; i < N; i++) nodes[order[i]].next = &nodes[order[(i + 1) % N]], nodes[i].value = i;
  for (long r = 0; r < reps; r++) {
    struct Node *n = nodes;
    do {
      sum += n->value;
      n->seen += r & 1;
      n = n->next;
    } while (n != nodes);
  }
  printf("%ld\n", sum + nodes[7].seen);
}
