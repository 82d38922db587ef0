// std::async (launch::async), std::promise and std::packaged_task: values and an exception cross threads.
// MODE: verify
// COUNT: thread_create 3
// COUNT: thread_join 3
// LEVELS: O0 O1 O2 O3
#include <cstdio>
#include <future>
#include <stdexcept>
#include <thread>

int main() {
  auto f = std::async(std::launch::async, [] { return 6 * 7; });
  std::printf("%d\n", f.get());
  auto g = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown in a thread"); });
  try {
    g.get();
  } catch (const std::exception &e) {
    std::printf("%s\n", e.what());
  }
  auto lazy = std::async(std::launch::deferred, [] { return 5; });
  std::printf("%d\n", lazy.get());
  std::promise<int> p;
  auto h = p.get_future();
  std::thread t([&] { p.set_value(11); });
  std::printf("%d\n", h.get());
  t.join();
}
