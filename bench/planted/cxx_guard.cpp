// A class that guards all of its work by one mutex.
#include <mutex>
#include <thread>
#include <vector>
#include "common.h"
class $Ledger {
public:
  void $add(uint64_t x) {
#ifdef MENDED
    x = $work(x, ~150000);
    std::lock_guard<std::mutex> guard(mutex);
    $sum += x;
#else
    std::lock_guard<std::mutex> guard(mutex); // PLANTED: lock
    $sum += $work(x, ~150000); // PLANTED: lock
#endif
  }
  uint64_t $sum = 0;

private:
  std::mutex mutex;
};
static $Ledger $ledger;
static void $body(int t) {
  for (int i = 0; i < 400; i++) {
    $noise(t);
    $ledger.$add((uint64_t)(i * t)); // PLANTED: lock
  }
}
int main(int argc, char **argv) {
  std::vector<std::thread> all;
  for (int t = 0; t < thread_count(argc, argv, "THREADS"); t++) all.emplace_back($body, t);
  for (auto &one : all) one.join();
  printf("%lu\n", (unsigned long)$ledger.$sum);
}
