// Ray against spheres and boxes through virtual functions.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
struct Ray {
  double ox, oy, oz, dx, dy, dz;
};
struct Shape {
  virtual ~Shape() = default;
  virtual double hit(const Ray &r) const = 0;
};
struct Sphere : Shape {
  double x, y, z, r;
  Sphere(double x, double y, double z, double r) : x(x), y(y), z(z), r(r) {}
  double hit(const Ray &q) const override {
    double cx = q.ox - x, cy = q.oy - y, cz = q.oz - z;
    double b = cx * q.dx + cy * q.dy + cz * q.dz, c = cx * cx + cy * cy + cz * cz - r * r;
    double d = b * b - c;
    return d < 0 ? -1 : -b - std::sqrt(d);
  }
};
struct Box : Shape {
  double lo[3], hi[3];
  Box(double x, double y, double z, double s) : lo{x, y, z}, hi{x + s, y + s, z + s} {}
  double hit(const Ray &q) const override {
    const double o[3] = {q.ox, q.oy, q.oz}, d[3] = {q.dx, q.dy, q.dz};
    double near = -1e30, far = 1e30;
    for (int i = 0; i < 3; i++) {
      double a = (lo[i] - o[i]) / d[i], b = (hi[i] - o[i]) / d[i];
      near = std::fmax(near, std::fmin(a, b));
      far = std::fmin(far, std::fmax(a, b));
    }
    return near > far ? -1 : near;
  }
};
int main(int argc, char **argv) {
  long reps = argc > 1 ? std::atol(argv[1]) : 1;
  std::vector<std::unique_ptr<Shape>> scene;
  for (int i = 0; i < 40; i++) {
    if (i % 2)
      scene.push_back(std::make_unique<Sphere>(i % 7 - 3, i % 5 - 2, 5 + i, 0.8));
    else
      scene.push_back(std::make_unique<Box>(i % 6 - 3, i % 4 - 2, 5 + i, 0.7));
  }
  double sum = 0;
  for (long r = 0; r < reps; r++)
    for (int p = 0; p < 256; p++) {
      double x = (p % 16 - 7.5) / 8, y = (p / 16 - 7.5) / 8, l = std::sqrt(x * x + y * y + 1);
      Ray q{0, 0, 0, x / l, y / l, 1 / l};
      double best = 1e30;
      for (auto &s : scene) {
        double t = s->hit(q);
        if (t > 0 && t < best) best = t;
      }
      if (best < 1e30) sum += best;
    }
  std::printf("%.6e\n", sum);
}
