// --contech-atomics=none: atomic operations are accesses and no tasks.
// MODE: verify
// FLAGS: --contech-atomics=none
// COUNT: atomic_rmw 0
// COUNT: fence 0
#include <stdatomic.h>

static atomic_int x;

int main(void) {
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_fetch_add(&x, 1);
}
