// Fibonacci numbers and the Ackermann function by recursion: calls and nothing else.
#include <stdio.h>
#include <stdlib.h>
static volatile int depth;
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static long ack(long m, long n) {
  return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1, s = 0;
  depth = 22;
  for (long r = 0; r < reps; r++) s += fib(depth) + ack(2, depth);
  printf("%ld\n", s);
}
