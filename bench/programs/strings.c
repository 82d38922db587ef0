// Words of a text: split, compared, searched, turned around, byte by byte.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 16], word[64], longest[64];
static int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}
static unsigned long occurrences(const char *in, const char *what, long length) {
  unsigned long n = 0;
  for (const char *p = in; p < in + length; p++) {
    const char *a = p, *b = what;
    while (*b && *a == *b) a++, b++;
    n += !*b;
  }
  return n;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 5;
  long size = sizeof text - 1;
  for (long i = 0; i < size; i++) {
    s = s * 1664525u + 1013904223u;
    text[i] = (s >> 24) % 6 == 0 ? ' ' : (char)('a' + (s >> 16) % 5);
  }
  unsigned long sum = 0;
  for (long r = 0; r < reps; r++) {
    long n = 0, most = 0;
    for (long i = 0; i <= size; i++) {
      char c = text[i];
      if (c && c != ' ' && n < 63) {
        word[n++] = c;
        continue;
      }
      word[n] = 0;
      if (n > most) memcpy(longest, word, (size_t)(most = n) + 1);
      for (long a = 0, b = n - 1; a < b; a++, b--) {
        char t = word[a];
        word[a] = word[b];
        word[b] = t;
      }
      sum += (unsigned long)same(word, "abba") + (unsigned long)same(word, longest);
      n = 0;
    }
    sum += occurrences(text, "ab", size) + (unsigned long)most;
  }
  printf("%lu %s\n", sum, longest);
}
