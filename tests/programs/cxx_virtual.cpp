// Virtual and multiple inheritance, member pointers, std::function, lambdas, variadic templates, RTTI,
// containers and strings.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Named {
  std::string name;
  explicit Named(std::string n) : name(std::move(n)) {}
  virtual ~Named() = default;
};
struct Square : Shape, Named {
  double side;
  explicit Square(double s) : Named("square"), side(s) {}
  double area() const override { return side * side; }
};
struct Circle : virtual Shape, virtual Named {
  double r;
  explicit Circle(double r) : Named("circle"), r(r) {}
  double area() const override { return 3 * r * r; }
};

template <class... T> static auto total(T... t) { return (0 + ... + t); }

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>(2));
  shapes.push_back(std::make_unique<Circle>(1));
  std::map<std::string, double> areas;
  for (auto &s : shapes) areas[dynamic_cast<Named &>(*s).name] += s->area();
  std::function<int(int)> f = [&](int x) { return x + (int)areas.size(); };
  auto member = &Shape::area;
  std::string all;
  for (auto &[name, area] : areas) all += name + "=" + std::to_string((int)area) + " ";
  std::vector<std::string> words{"delta", "alpha", "charlie", "bravo"};
  std::sort(words.begin(), words.end(), [](auto &a, auto &b) { return a < b; });
  std::printf("%s%d %.1f %d %s\n", all.c_str(), f(5), ((*shapes[0]).*member)(), total(1, 2, 3), words[1].c_str());
}
// FLAGS: -std=c++17
