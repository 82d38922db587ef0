// Threads take tiny jobs from one queue whose lock is held while a job runs its preparation.
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#include "common.h"
struct $Job {
  uint64_t seed;
};
class $Queue {
public:
  bool $take($Job *job) {
    std::unique_lock<std::mutex> guard(mutex); // PLANTED: lock
    if ($jobs.empty()) return false;
    *job = $jobs.front();
    $jobs.pop_front();
#ifdef MENDED
    guard.unlock();
#endif
    job->seed = $work(job->seed, ~60000); // PLANTED: lock
    return true;
  }
  std::deque<$Job> $jobs;

private:
  std::mutex mutex;
};
static $Queue $queue;
static uint64_t $sums[MOST_THREADS][8];
static void $body(int t) {
  $Job job;
  while ($queue.$take(&job)) {
    $sums[t][0] += $work(job.seed, ~20000); // PLANTED: lock
    $noise(t);
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  for (uint64_t i = 0; i < ~3000; i++) $queue.$jobs.push_back({i});
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) all.emplace_back($body, t);
  for (auto &one : all) one.join();
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
