// Things only the ABI knows: alloca, variable-length arrays, varargs, large structures by value and
// returned, long double, complex, many arguments, function pointers.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <alloca.h>
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>

struct Big {
  long a[20];
};
struct Pair {
  double x;
  int y;
};

__attribute__((noinline)) static long sum(int n, ...) {
  va_list ap, copy;
  long s = 0;
  va_start(ap, n);
  va_copy(copy, ap);
  for (int i = 0; i < n; i++) s += va_arg(ap, int);
  for (int i = 0; i < n; i++) s += va_arg(copy, int);
  va_end(ap);
  va_end(copy);
  return s;
}
__attribute__((noinline)) static struct Big grow(struct Big b, int k) {
  for (int i = 0; i < 20; i++) b.a[i] += k * i;
  return b;
}
__attribute__((noinline)) static struct Pair pair(struct Pair p) {
  p.x *= 2;
  p.y++;
  return p;
}
__attribute__((noinline)) static int vla(int n) {
  int a[n];
  int *b = alloca(sizeof(int) * (unsigned)n);
  for (int i = 0; i < n; i++) a[i] = b[n - 1 - i] = i;
  int s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}
__attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f, long g, long h,
                                           double i, double j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (long)(i * j);
}

int main(void) {
  struct Big b = {{1, 2, 3}};
  struct Pair p = {1.5, 3};
  long double l = 1.25L;
  double complex z = 1.0 + 2.0 * I;
  int (*volatile f)(int) = vla;
  b = grow(b, 3);
  p = pair(p);
  for (int i = 0; i < 3; i++) {
    l = l * l;
    z = z * z;
  }
  printf("%ld %ld %.1f %d %d\n", sum(4, 1, 2, 3, 4), b.a[19], p.x, p.y, f(10));
  printf("%.3Lf %.1f %.1f %ld\n", l, creal(z), cimag(z), many(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 2.0));
  return 0;
}
