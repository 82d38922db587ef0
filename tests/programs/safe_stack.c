// SafeStack moves what calls are given the address of to another stack: the cursor is not handed on in a slot there.
// MODE: golden
// FLAGS: -fsanitize=safe-stack
// LEVELS: O0 O1 O2 O3
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static void fill(char *to, int n) { memset(to, n, 64); }

__attribute__((noinline)) static int sum(const char *of) {
  int s = 0;
  for (int i = 0; i < 64; i++) s += of[i];
  return s;
}

__attribute__((noinline)) static int one(int n) {
  char local[64];
  fill(local, n);
  return sum(local);
}

int main(void) {
  int s = 0;
  for (int i = 0; i < 10; i++) s += one(i);
  printf("%d\n", s);
  return 0;
}
