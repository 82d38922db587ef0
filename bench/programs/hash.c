// Open-addressing hash table, 2^17 slots: insert and look up.
#include <stdio.h>
#include <stdlib.h>
#define SLOTS (1u << 17)
static unsigned long key[SLOTS], value[SLOTS];
static unsigned slot(unsigned long k) {
  unsigned i = (unsigned)((k * 0x9e3779b97f4a7c15ul) >> 47);
  while (key[i] && key[i] != k) i = (i + 1) & (SLOTS - 1);
  return i;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned long found = 0;
  for (long r = 0; r < reps; r++) {
    unsigned long s = 1;
    for (int i = 0; i < 60000; i++) {
      s = s * 6364136223846793005ul + 1442695040888963407ul;
      unsigned at = slot(s | 1);
      key[at] = s | 1;
      value[at] += (unsigned long)r;
      found += value[slot((s >> 7) | 1)];
    }
  }
  printf("%lu\n", found);
}
