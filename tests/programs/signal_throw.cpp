// An exception leaves the handler of a fault: the store that faulted never goes on, and where its cursor was is only
// likely. What follows takes the place of nothing, and the trace says that records may be lost.
// MODE: incomplete
// CHECK: bytes
// LEVELS: O0 O1 O2 O3
// NOTE: records were lost in 20 jumps out of a signal handler
#include <csignal>
#include <cstdio>

static volatile int before[20], after[20];
static int *volatile nowhere;

static void on_fault(int) { throw 1; }

__attribute__((noinline)) static int fault(int i) {
  int s = 0;
  if (i < 0) throw 2; // the compiler must expect an exception of this function
  for (int k = 0; k <= i; k++) s += before[k];
  *nowhere = s;
  return s;
}

int main() {
  struct sigaction action = {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  int caught = 0;
  for (int i = 0; i < 20; i++) {
    try {
      fault(i);
    } catch (int e) {
      after[i] = e;
      caught += e;
    }
  }
  for (auto &a : after) std::printf("W %p 4\n", const_cast<int *>(&a));
  return caught == 20 ? 0 : 1;
}
