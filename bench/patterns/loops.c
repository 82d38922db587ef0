// Loops that execute argv[1] million blocks and more, and access no memory.
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  long times = 100000 * (argc > 1 ? atol(argv[1]) : 1);
  unsigned x = 1;
  for (long i = 0; i < times; i++) {
#pragma clang loop unroll(disable)
    for (int j = 0; j < 10; j++) x = (x ^ (unsigned)j) * 2654435761u;
    x ^= x >> 15;
  }
  printf("%u\n", x);
}
