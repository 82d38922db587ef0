#include <cstdio>
#include <string>
#include <thread>

extern "C" long square(long);
std::string name();

int main() {
  long sum[2] = {0, 0};
  std::thread a([&] {
    for (long i = 0; i < 5; i++) sum[0] += square(i);
  });
  std::thread b([&] {
    for (long i = 5; i < 10; i++) sum[1] += square(i);
  });
  a.join();
  b.join();
  std::printf("sum %ld by 2 threads, name %s\n", sum[0] + sum[1], name().c_str());
}
