// As triangle.c, but iterations call nothing: the loop is told at once.
#ifndef SCHEDULE
#define SCHEDULE static
#endif
#define PRAGMA(text) _Pragma(#text)
#define LOOP(schedule_) PRAGMA(omp parallel for schedule(schedule_))

volatile long n = N;

int main(void) {
  long count = n;
  LOOP(SCHEDULE)
  for (long i = 0; i < count; ++i) {
#pragma clang loop unroll(disable) vectorize(disable)
    for (long k = 0; k <= i; ++k) __asm__ volatile("");
  }
  return 0;
}
