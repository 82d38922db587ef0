// Switches (dense, sparse, duplicate targets), computed goto, irreducible loops, tail calls, inline assembly,
// a function that never returns, indirect calls.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <stdio.h>
#include <stdlib.h>

static int memory[16];

__attribute__((noinline)) static int dense(int x) {
  switch (x) {
  case 0: case 1: return memory[0]++;
  case 2: return 7;
  case 3: memory[1] += x; /* falls through */
  case 4: memory[2] += x; break;
  default: memory[3]++;
  }
  return memory[1];
}
__attribute__((noinline)) static int sparse(long x) {
  switch (x) {
  case -1000000: return 1;
  case 3: return memory[4]++;
  case 1l << 40: return 3;
  }
  return 0;
}
__attribute__((noinline)) static int interpret(const char *code) {
  static void *const ops[] = {&&halt, &&inc, &&dec, &&twice};
  int acc = 0;
  goto *ops[(int)*code++];
inc:
  acc += ++memory[5];
  goto *ops[(int)*code++];
dec:
  acc -= 1;
  goto *ops[(int)*code++];
twice:
  acc *= 2;
  goto *ops[(int)*code++];
halt:
  return acc;
}
__attribute__((noinline)) static int irreducible(int n, int into) {
  int i = 0;
  if (into) goto inside;
  while (i < n) {
    memory[6]++;
  inside:
    memory[7]++;
    i++;
  }
  return memory[6] * 100 + memory[7];
}
__attribute__((noinline)) static int tail(int n, int acc) {
  memory[8] = n;
  if (n == 0) return acc;
  return tail(n - 1, acc + memory[8]);
}
__attribute__((noinline)) static long assembly(long a, long b) {
  long r;
  __asm__ volatile("leaq (%1,%2), %0" : "=r"(r) : "r"(a), "r"(b) : "cc");
  __asm__ volatile("addq $5, %0" : "+m"(r) : : "memory", "cc");
  return r;
}
__attribute__((noreturn, noinline)) static void leave(int status) { exit(status); }

int main(void) {
  long s = 0;
  for (int i = -1; i < 6; i++) s = s * 3 + dense(i);
  s += sparse(3) + sparse(-1000000) + sparse(1l << 40) + sparse(12);
  static const char code[] = {1, 1, 3, 2, 1, 0};
  printf("%ld %d %d %d %d %ld\n", s, interpret(code), irreducible(4, 1), irreducible(3, 0), tail(1000, 0),
         assembly(30, 4));
  fflush(stdout);
  leave(0);
}
