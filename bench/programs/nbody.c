// Gravitation of 64 bodies, all pairs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 64
static struct {
  double x, y, z, vx, vy, vz, m;
} b[N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N; i++) b[i].x = i * 1.1, b[i].y = (i * 7) % N, b[i].z = (i * 13) % N, b[i].m = 1 + i % 3;
  for (long r = 0; r < reps; r++) {
    for (int i = 0; i < N; i++)
      for (int k = i + 1; k < N; k++) {
        double dx = b[i].x - b[k].x, dy = b[i].y - b[k].y, dz = b[i].z - b[k].z;
        double d = dx * dx + dy * dy + dz * dz + 0.01, f = 1e-4 / (d * sqrt(d));
        b[i].vx -= dx * b[k].m * f, b[i].vy -= dy * b[k].m * f, b[i].vz -= dz * b[k].m * f;
        b[k].vx += dx * b[i].m * f, b[k].vy += dy * b[i].m * f, b[k].vz += dz * b[i].m * f;
      }
    for (int i = 0; i < N; i++) b[i].x += b[i].vx, b[i].y += b[i].vy, b[i].z += b[i].vz;
  }
  printf("%.9e\n", b[0].x + b[N - 1].vz);
}
