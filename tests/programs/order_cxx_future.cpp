// Values and exceptions through promise, packaged_task, async and shared_future: what is done before they are set
// comes before what follows the get.
// MODE: verify
// CHECK: log-order
#define SECTIONS 200
#include "order.h"
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>

int main() {
  for (int i = 0; i < SECTIONS / 8; i++) {
    std::promise<int> value, failure;
    auto got = value.get_future(), caught = failure.get_future();
    std::promise<void> go;
    std::shared_future<void> gone = go.get_future().share();
    std::thread other([&, gone] {
      gone.get();
      section();
      value.set_value(1);
      try {
        throw std::runtime_error("in a thread");
      } catch (...) {
        failure.set_exception(std::current_exception());
      }
    });
    section();
    go.set_value();
    got.get();
    section();
    try {
      caught.get();
    } catch (const std::runtime_error &) {
    }
    other.join();
    std::packaged_task<int()> task([] {
      section();
      return 2;
    });
    auto result = task.get_future();
    std::thread runner(std::move(task));
    result.get();
    section();
    runner.join();
    auto async = std::async(std::launch::async, [] { section(); });
    async.wait();
    section();
    async.get();
    section();
  }
  return report(SECTIONS);
}
