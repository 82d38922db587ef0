// The large code model: the way to the runtime takes registers of its own.
// MODE: golden
// FLAGS: -mcmodel=large
// LEVELS: O0 O1 O2 O3
#include <stdio.h>

static volatile int values[8];

__attribute__((noinline)) static int add(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += values[i & 7] += i;
  return s;
}

int main(void) {
  printf("%d\n", add(100000));
  return 0;
}
