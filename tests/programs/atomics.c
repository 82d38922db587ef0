// Atomic loads, stores, read-modify-writes of every width, compare-exchanges that succeed and fail, fences:
// loads read, stores write, a read-modify-write reads then writes.
// MODE: verify
// CHECK: accesses
// LEVELS: O0 O1 O2 O3
#include <stdatomic.h>
#include <stdio.h>

static _Atomic char c;
static _Atomic short s;
static _Atomic int i;
static _Atomic long l;
static _Atomic(void *) p;
static _Atomic _Bool flag;

__attribute__((noinline)) static long run(void) {
  long r = atomic_load(&l);
  atomic_store(&i, 5);
  r += atomic_fetch_add(&c, 1);
  r += atomic_fetch_sub_explicit(&s, 2, memory_order_relaxed);
  r += atomic_exchange(&i, 9);
  r += atomic_fetch_or(&l, 4);
  atomic_thread_fence(memory_order_seq_cst);
  int nine = 9;
  r += atomic_compare_exchange_strong(&i, &nine, 10);
  int eight = 8;
  r += atomic_compare_exchange_strong(&i, &eight, 11);
  atomic_store_explicit(&p, &i, memory_order_release);
  r += atomic_exchange(&flag, 1);
  return r + eight;
}

int main(void) {
  long r = run();
#define R(x) printf("0:* R %p %lu\n", (void *)&x, sizeof x)
#define W(x) printf("0:* W %p %lu\n", (void *)&x, sizeof x)
  R(l), W(i), R(c), W(c), R(s), W(s), R(i), W(i), R(l), W(l), R(i), W(i), R(i), W(i), W(p), R(flag), W(flag);
  return r == 5 + 1 + 10 ? 0 : (int)r;
}
