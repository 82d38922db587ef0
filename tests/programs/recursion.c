// Deep recursion (20000 frames) and mutual recursion.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <stdio.h>

static int cells[20000];
__attribute__((noinline)) static int deep(int n) {
  cells[n] = n;
  if (n == 0) return 0;
  int below = deep(n - 1);
  return (below + cells[n]) & 0xffff;
}
static int odd(int n);
__attribute__((noinline)) static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

int main(void) {
  printf("%d %d %d\n", deep(19999), even(1001), ackermann(2, 30));
  return 0;
}
