// Atomics that are calls of libatomic: loads read, stores write, a read-modify-write reads then writes; the values
// they are given and give back by address, too.
// MODE: verify
// CHECK: accesses
// FLAGS: -latomic
// COUNT: atomic_rmw 2
#include <stdatomic.h>
#include <stdio.h>

typedef struct {
  long a, b, c;
} triple;
static _Atomic triple t;
static _Atomic __int128 w;

int main(void) {
  triple one = {1, 2, 3};
  atomic_store(&t, one);
  triple r = atomic_exchange(&t, ((triple){4, 5, 6}));
  triple s = atomic_load(&t);
  __int128 v = atomic_fetch_add(&w, 1);
#define R(x) printf("0:* R %p %lu\n", (void *)&x, sizeof x)
#define W(x) printf("0:* W %p %lu\n", (void *)&x, sizeof x)
  W(t), R(t), W(t), R(t), R(w), W(w);
  return r.b == 2 && s.c == 6 && v == 0 ? 0 : 1;
}
