// PART of the order_* programs: critical sections log the order they are in; the graph must have it, too.
#include <stdio.h>
#ifndef SECTIONS
#define SECTIONS 10000
#endif

static int entries[SECTIONS];
static int entered;

// Only to be called by one thread at a time, one after the other.
__attribute__((noinline)) static void section(void) {
  entries[entered] = entered;
  entered++;
}

static int report(int expected) {
  printf("sections %p %d %zu\n", (void *)entries, entered, sizeof entries[0]);
  return entered == expected ? 0 : 1;
}
