// Every kind of atomic operation in one thread: which is a task of which kind. A compare-exchange that fails is one;
// relaxed operations and fences of signals are none.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <stdatomic.h>

static atomic_int x;
static atomic_long y;
static atomic_flag f = ATOMIC_FLAG_INIT;

int main(void) {
  int seven = 7, three = 3;
  atomic_store(&x, 3);
  atomic_fetch_or(&x, 4);
  long r = atomic_load_explicit(&x, memory_order_acquire);
  r += atomic_compare_exchange_strong(&x, &seven, 9);
  r += atomic_compare_exchange_strong(&x, &three, 9);
  r += atomic_exchange_explicit(&y, 1, memory_order_release);
  r += atomic_flag_test_and_set(&f);
  atomic_flag_clear(&f);
  atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  return r == 7 + 1 ? 0 : 1;
}
