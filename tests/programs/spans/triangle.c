// Iteration i of N does i + 1 steps, in a function that is not inlined: the span is that of the last one.
#include "steps.h"
#ifndef SCHEDULE
#define SCHEDULE static
#endif
#define PRAGMA(text) _Pragma(#text)
#define LOOP(schedule_) PRAGMA(omp parallel for schedule(schedule_))

volatile long n = N;

int main(void) {
  long count = n;
  LOOP(SCHEDULE)
  for (long i = 0; i < count; ++i) steps(i + 1);
  return 0;
}
