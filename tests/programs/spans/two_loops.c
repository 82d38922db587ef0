// Two loops of one region, of 50 and 30 steps in an iteration: with a barrier between them the span has both, without
// (-DCLAUSE=nowait) the longer.
#include "steps.h"
#ifndef CLAUSE
#define CLAUSE
#endif
#define PRAGMA(text) _Pragma(#text)
#define LOOP(clause) PRAGMA(omp for clause)

volatile long n = 8;

int main(void) {
  long count = n;
#pragma omp parallel
  {
    LOOP(CLAUSE)
    for (long i = 0; i < count; ++i) steps(50);
    LOOP(CLAUSE)
    for (long i = 0; i < count; ++i) steps(30);
  }
  return 0;
}
