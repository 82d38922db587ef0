// Counts words with std::unordered_map and std::map, sorts them: strings, iterators, allocation.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
int main(int argc, char **argv) {
  long reps = argc > 1 ? std::atol(argv[1]) : 1;
  unsigned long h = 0;
  for (long r = 0; r < reps; r++) {
    unsigned s = 12345;
    std::unordered_map<std::string, int> count;
    for (int i = 0; i < 5000; i++) {
      s = s * 1664525u + 1013904223u;
      std::string word;
      for (unsigned k = 0; k < 3 + (s >> 28) % 4; k++) word += static_cast<char>('a' + (s >> (4 * k + 8)) % 7);
      count[word]++;
    }
    std::vector<std::pair<std::string, int>> all(count.begin(), count.end());
    std::sort(all.begin(), all.end(), [](auto &a, auto &b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
    std::map<int, std::string> by;
    for (auto &[w, n] : all) by[n] += w[0];
    for (auto &[n, w] : by) h = h * 31 + w.size() + static_cast<unsigned>(n);
  }
  std::printf("%lx\n", h);
}
