// shared_ptr and weak_ptr: what its users did comes before the destructor, whoever runs it.
// MODE: verify
// CHECK: log-order
#define SECTIONS 100
#include "order.h"
#include <memory>
#include <thread>

struct Object {
  int used = 0;
  ~Object() { section(); }
};

int main() {
  for (int i = 0; i < SECTIONS / 2; i++) {
    auto object = std::make_shared<Object>();
    std::weak_ptr<Object> weak = object;
    std::thread user([&section_of = section, object = std::move(object)]() mutable {
      section_of();
      object.reset();
    });
    if (auto mine = weak.lock()) mine->used = 1;
    user.join();
  }
  return report(SECTIONS);
}
