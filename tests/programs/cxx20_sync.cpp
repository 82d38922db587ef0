// C++20 counting_semaphore, latch and barrier (futexes and atomics in headers): the program behaves the same.
// MODE: verify
// COUNT: thread_create 2
// LEVELS: O0 O2
// FLAGS: -std=c++20
#include <barrier>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>

int main() {
  std::counting_semaphore<4> s(0);
  std::latch l(2);
  int x[2] = {0, 0};
  std::barrier b(2, [&]() noexcept { x[0] += x[1]; });
  std::thread t([&] {
    x[0] = 1;
    l.count_down();
    s.acquire();
    b.arrive_and_wait();
  });
  std::thread u([&] {
    x[1] = 2;
    l.count_down();
    s.release();
    b.arrive_and_wait();
  });
  l.wait();
  t.join();
  u.join();
  std::printf("%d\n", x[0]);
}
