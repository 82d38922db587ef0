// memcpy, memmove and memset with constant and dynamic lengths, structure assignment, zero length: each is a
// read and a write of so many bytes. The program says which; the graph must hold them in this order.
// MODE: verify
// CHECK: accesses
// LEVELS: O0 O1 O2 O3
#include <stdio.h>
#include <string.h>

static char a[4096] __attribute__((aligned(64))), b[4096] __attribute__((aligned(64)));
struct Big {
  long x[300];
} big[2];
static volatile unsigned long seven = 7, thousand = 1000, zero = 0;

__attribute__((noinline)) static void run(char *d, char *s) {
  memcpy(d, s, 2000);
  memmove(d + 100, s + 50, thousand);
  memset(d + 11, 3, seven);
  memset(s, 1, 4096);
  memcpy(d, s, thousand);
  memcpy(d, s, zero);
  big[1] = big[0];
}

int main(void) {
  run(a, b);
  struct {
    char rw;
    void *p;
    unsigned long n;
  } want[] = {
      {'R', b, 2000},      {'W', a, 2000},     {'R', b + 50, 1000}, {'W', a + 100, 1000},
      {'W', a + 11, 7},    {'W', b, 4096},     {'R', b, 1000},      {'W', a, 1000},
      {'R', &big[0], 2400}, {'W', &big[1], 2400},
  };
  for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
    printf("0:* %c %p %lu\n", want[i].rw, want[i].p, want[i].n);
  return a[3] + b[9] == 2 ? 0 : 1;
}
