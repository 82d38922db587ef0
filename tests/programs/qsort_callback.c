// qsort, bsearch and tsearch of the C library call instrumented comparison functions.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned calls;
static int compare(const void *a, const void *b) {
  calls++;
  return *(const int *)a - *(const int *)b;
}
static long sum;
static void visit(const void *node, VISIT which, int depth) {
  if (which == postorder || which == leaf) sum += **(int *const *)node * (depth + 1);
}

int main(void) {
  static int a[1000];
  void *root = NULL;
  unsigned s = 1;
  for (int i = 0; i < 1000; i++) a[i] = (int)((s = s * 1103515245u + 12345u) >> 8 & 0xffff);
  qsort(a, 1000, sizeof a[0], compare);
  for (int i = 1; i < 1000; i++)
    if (a[i - 1] > a[i]) return 1;
  int *p = bsearch(&a[500], a, 1000, sizeof a[0], compare);
  for (int i = 0; i < 50; i++) tsearch(&a[i * 17], &root, compare);
  twalk(root, visit);
  printf("%d %d %ld\n", *p == a[500], calls > 1000, sum);
  return 0;
}
