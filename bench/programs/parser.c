// Recursive-descent parser and evaluator of arithmetic expressions in text.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
static const char *p;
static char text[1 << 16];
static long expression(void);
static long atom(void) {
  if (*p == '(') {
    p++;
    long v = expression();
    p++;
    return v;
  }
  long v = 0;
  while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
  return v;
}
static long term(void) {
  long v = atom();
  while (*p == '*') p++, v = (v * atom()) % 1000003;
  return v;
}
static long expression(void) {
  long v = term();
  while (*p == '+' || *p == '-') v = *p++ == '+' ? v + term() : v - term();
  return v;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1, s = 0;
  unsigned r = 1, depth = 0;
  int n = 0;
  while (n < (1 << 16) - 200) {
    r = r * 1664525u + 1013904223u;
    if ((r >> 28) < 4 && depth < 40) {
      text[n++] = '(';
      depth++;
      continue;
    }
    for (unsigned d = 0; d <= (r >> 20) % 4; d++) text[n++] = (char)('0' + (r >> (4 * d + 3)) % 10);
    while ((r >> 24) % 3 == 0 && depth > 0) {
      text[n++] = ')';
      depth--;
      r = r * 1664525u + 1013904223u;
    }
    text[n++] = "+-*"[(r >> 17) % 3];
  }
  text[n++] = '1';
  while (depth-- > 0) text[n++] = ')';
  for (long i = 0; i < reps; i++) {
    p = text;
    s += expression();
  }
  printf("%ld\n", s);
}
