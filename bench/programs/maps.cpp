// std::map and std::unordered_map: counted, looked up, walked, erased.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>
int main(int argc, char **argv) {
  long reps = argc > 1 ? std::atol(argv[1]) : 1;
  unsigned long h = 0;
  unsigned s = 31;
  for (long r = 0; r < reps; r++) {
    std::map<unsigned, unsigned long> sorted;
    std::unordered_map<unsigned, unsigned> counts;
    for (int i = 0; i < 5000; i++) {
      s = s * 1664525u + 1013904223u;
      sorted[s >> 18] += static_cast<unsigned long>(i);
      counts[s >> 20]++;
    }
    for (const auto &[key, value] : sorted) h = h * 3 + key + value;
    for (unsigned k = 0; k < 4096; k += 3)
      if (auto at = counts.find(k); at != counts.end()) {
        h += at->second;
        counts.erase(at);
      }
    h ^= counts.size();
  }
  std::printf("%lx\n", h);
}
