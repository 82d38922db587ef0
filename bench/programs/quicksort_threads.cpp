// Two std::threads sort halves with std::sort, one merges.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
int main(int argc, char **argv) {
  long reps = argc > 1 ? std::atol(argv[1]) : 1;
  unsigned long h = 0;
  for (long r = 0; r < reps; r++) {
    std::vector<int> a(100000), b(100000);
    unsigned s = static_cast<unsigned>(r) + 1;
    for (auto &x : a) x = static_cast<int>((s = s * 1664525u + 1013904223u) >> 8);
    auto middle = a.begin() + 50000;
    std::thread t([&] { std::sort(a.begin(), middle); });
    std::sort(middle, a.end());
    t.join();
    std::merge(a.begin(), middle, middle, a.end(), b.begin());
    h = h * 31 + static_cast<unsigned>(b[50000]);
  }
  std::printf("%lx\n", h);
}
