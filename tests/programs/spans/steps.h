// What an iteration does: so many steps, each of as many operations, at every level of optimisation. Weak: nothing is
// known of it where it is called.
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline, weak)) void steps(long n) {
#pragma clang loop unroll(disable) vectorize(disable)
  for (long i = 0; i < n; ++i) __asm__ volatile("");
}
