// std::sort of records by two keys, std::stable_sort, and binary searches in the result.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Record {
  unsigned key;
  short group;
  float weight;
};
int main(int argc, char **argv) {
  long reps = argc > 1 ? std::atol(argv[1]) : 1;
  std::vector<Record> all(20000);
  unsigned s = 29;
  double h = 0;
  for (long r = 0; r < reps; r++) {
    for (Record &x : all) {
      s = s * 1664525u + 1013904223u;
      x = {s >> 8, static_cast<short>(s >> 28), static_cast<float>(s & 255)};
    }
    std::sort(all.begin(), all.end(), [](const Record &a, const Record &b) {
      return a.group != b.group ? a.group < b.group : a.key < b.key;
    });
    std::stable_sort(all.begin(), all.begin() + 5000, [](const Record &a, const Record &b) { return a.weight < b.weight; });
    for (unsigned i = 0; i < 1000; i++) {
      auto at = std::lower_bound(all.begin() + 5000, all.end(), i, [](const Record &a, unsigned k) {
        return a.group * 64u < k;
      });
      if (at != all.end()) h += at->weight;
    }
  }
  std::printf("%.0f\n", h);
}
