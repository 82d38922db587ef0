// The Cilk-style header in C++: arguments are evaluated before the spawn, results stored, loops run once for each index.
#include <contech/cilk.h>
#include <cstdio>
#include <vector>

static int twice(const int &x) { return 2 * x; }
static void nothing() {}

static int all() {
  int i = 1, a = 0, b = 0, n = 0;
  cilk_spawn_to(a, twice, i++);
  cilk_spawn_to(b, twice, i++);
  cilk_spawn(nothing);
  cilk_sync;
  std::vector<int> seen(100);
  cilk_for(unsigned, k, 0, 100, 8)
    if (k == 50) {
      seen[k] = 50;
      continue;
    }
    seen[k] += k;
  cilk_end_for
  // No index, one index, a grain of nothing, random-access iterators.
  cilk_for(int, k, 7, 5, 8) seen[k] = -1;
  cilk_end_for
  cilk_for(std::vector<int>::iterator, at, seen.begin(), seen.end(), 0)
    ++*at;
    --*at;
  cilk_end_for
  for (int k = 0; k < 100; k++) n += seen[k] == k;
  return a == 2 && b == 4 && i == 3 && n == 100;
}

int main() {
  int right = 0;
  cilk_run_to(right, all);
  std::printf("%d\n", right);
  return !right;
}
