// One function for each rule that tests/tests/planted_bugs.rs has broken; which one a bug shows in is in its name.
#include <stdio.h>
struct Three {
  long a, b, c;
};
static long numbers[512];
static long *places[4] = {numbers, numbers + 8, numbers + 16, numbers + 24};
static volatile unsigned short far_index = 300;
static volatile int yes = 1, no = 0;

// The second address is the first one's plus 16.
__attribute__((noinline)) static long delta(struct Three *t) {
  return *(volatile long *)&t->a + *(volatile long *)&t->c;
}
// The number of iterations is computed from n.
__attribute__((noinline)) static long count(volatile long *p, int n) {
  long s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  return s;
}
// Where the pointer is used a second time it was recorded only if `first`.
__attribute__((noinline)) static long dominance(int i, int first) {
  volatile long *p = *(long *volatile *)&places[i];
  long s = 0;
  if (first) s = *p;
  yes = 1;
  return s + *p;
}
// The index has 16 bits.
__attribute__((noinline)) static long width(void) { return ((volatile long *)numbers)[far_index]; }

int main(void) {
  struct Three t = {1, 2, 3};
  long s = delta(&t) + count(numbers, 7 + no);
  s += dominance(1, yes) + dominance(2, no) + dominance(3, no);
  printf("%ld\n", s + width());
  return 0;
}
