// PART of c_part.rs: the sum of some numbers, compiled without instrumentation.
unsigned long sum(const unsigned long *values, unsigned long n) {
  unsigned long result = 0;
  for (unsigned long i = 0; i < n; i++)
    result += values[i];
  return result;
}
