static _Thread_local long calls;

long square(long x) {
  calls++;
  return x * x;
}
