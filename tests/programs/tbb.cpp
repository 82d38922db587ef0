// oneTBB, unmodified: its workers are created in a library, so they are contexts nobody announced, with the work they
// did for the program.
// MODE: verify
// FLAGS: -ltbb -std=c++17
// LEVELS: O2
#include <cstdio>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>
#include <vector>

static int fib(int n) {
  if (n < 12) return n < 2 ? n : fib(n - 1) + fib(n - 2);
  int a = 0, b = 0;
  tbb::task_group group;
  group.run([&] { a = fib(n - 1); });
  b = fib(n - 2);
  group.wait();
  return a + b;
}

int main() {
  std::vector<int> v(100000);
  tbb::parallel_for(0, 100000, [&](int i) { v[i] = i % 7; });
  long sum = tbb::parallel_reduce(
      tbb::blocked_range<int>(0, 100000), 0L,
      [&](const tbb::blocked_range<int> &r, long s) {
        for (int i = r.begin(); i < r.end(); i++) s += v[i];
        return s;
      },
      [](long a, long b) { return a + b; });
  std::printf("%ld %d\n", sum, fib(20));
}
