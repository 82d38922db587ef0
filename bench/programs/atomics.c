// One thread adding to a counter nobody else wants, by atomic operations alone.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static _Atomic unsigned long sum;
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (long r = 0; r < reps; r++)
    for (int i = 0; i < 1000; i++)
      atomic_fetch_add(&sum, (unsigned long)i);
  printf("%lu\n", (unsigned long)sum);
}
