// A producer and a consumer over a bounded queue with a mutex and two condition variables.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex lock;
static std::condition_variable filled, emptied;
static std::deque<std::vector<unsigned>> queue;
int main(int argc, char **argv) {
  long reps = argc > 1 ? std::atol(argv[1]) : 1;
  unsigned long sum = 0;
  std::thread consumer([&] {
    for (long r = 0; r < reps; r++) {
      std::unique_lock<std::mutex> held(lock);
      filled.wait(held, [] { return !queue.empty(); });
      std::vector<unsigned> work = std::move(queue.front());
      queue.pop_front();
      held.unlock();
      emptied.notify_one();
      for (unsigned w : work) sum = sum * 31 + w;
    }
  });
  unsigned s = 19;
  for (long r = 0; r < reps; r++) {
    std::vector<unsigned> work(500);
    for (unsigned &w : work) w = s = s * 1664525u + 1013904223u;
    std::unique_lock<std::mutex> held(lock);
    emptied.wait(held, [] { return queue.size() < 16; });
    queue.push_back(std::move(work));
    held.unlock();
    filled.notify_one();
  }
  consumer.join();
  std::printf("%lx\n", sum);
}
