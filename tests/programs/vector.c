// Vector code of the base instruction set: the loops are vectorised at -O2, the bytes touched are the same
// at every level (compared as sets of bytes read and written per array).
// MODE: verify
// CHECK: bytes
// LEVELS: O0 O1 O2 O3
#include <stdio.h>

static float x[1000], y[1000], z[1000];
static unsigned char q[777];

__attribute__((noinline)) static void run(int n, int m) {
  for (int i = 0; i < n; i++) z[i] = 2 * x[i] + y[i];
  for (int i = 0; i < m; i++) q[i] = (unsigned char)(q[i] * 3 + 1);
}

int main(void) {
  for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
  run(997, 777);
  printf("R %p %lu\nR %p %lu\nW %p %lu\n", (void *)x, 997ul * 4, (void *)y, 997ul * 4, (void *)z, 997ul * 4);
  printf("R %p %lu\nW %p %lu\n", (void *)q, 777ul, (void *)q, 777ul);
  printf("ONLY R %p %zu\nONLY R %p %zu\nONLY W %p %zu\nONLY R %p %zu\n", (void *)x, sizeof x, (void *)y, sizeof y,
         (void *)z, sizeof z, (void *)q, sizeof q);
  return z[996] == 2 * 996 + 1 ? 0 : 1;
}
