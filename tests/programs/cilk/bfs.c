// Breadth-first search level by level (section 8 of the Cilkprof paper): pieces of a constant size are processed serially.
#include <contech/cilk.h>
#include <stdio.h>
#include <string.h>

#ifndef SIDE
#define SIDE 64
#endif
enum { N = SIDE * SIDE, PIECE = 64, GRAIN = 64 };
static int level[N], frontier[2][N];
static int found[N], count[2];

// Neighbours of a node of a torus with long-range edges.
static int neighbour(int node, int k) {
  int x = node % SIDE, y = node / SIDE;
  switch (k) {
    case 0: return y * SIDE + (x + 1) % SIDE;
    case 1: return y * SIDE + (x + SIDE - 1) % SIDE;
    case 2: return (y + 1) % SIDE * SIDE + x;
    default: return (node * 17 + 5) % N;
  }
}

__attribute__((noinline)) static void process_nodes(const int *nodes, int n, int depth) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) {
      int next = neighbour(nodes[i], k);
      if (__atomic_load_n(&level[next], __ATOMIC_RELAXED) == -1) __atomic_store_n(&found[next], depth, __ATOMIC_RELAXED);
    }
}

static void process_piece(const int *nodes, int n, int depth) {
  if (n <= GRAIN) {
    process_nodes(nodes, n, depth);
    return;
  }
  cilk_spawn(process_piece, nodes, n / 2, depth);
  process_piece(nodes + n / 2, n - n / 2, depth);
  cilk_sync;
}

static void process_level(const int *nodes, int n, int depth) {
  if (n <= PIECE) {
    process_piece(nodes, n, depth);
    return;
  }
  cilk_spawn(process_level, nodes, n / 2, depth);
  process_level(nodes + n / 2, n - n / 2, depth);
  cilk_sync;
}

static int bfs(void) {
  int depth = 0, now = 0;
  level[0] = 0;
  frontier[0][0] = 0;
  count[0] = 1;
  while (count[now] > 0) {
    process_level(frontier[now], count[now], ++depth);
    count[1 - now] = 0;
    for (int i = 0; i < N; i++)
      if (found[i] == depth && level[i] == -1) {
        level[i] = depth;
        frontier[1 - now][count[1 - now]++] = i;
      }
    now = 1 - now;
  }
  return depth;
}

int main(void) {
  memset(level, -1, sizeof level);
  int depth;
  cilk_run_to(depth, bfs);
  int wrong = 0;
  for (int i = 0; i < N; i++) {
    wrong += level[i] < 0;
    for (int k = 0; k < 4; k++) wrong += level[neighbour(i, k)] > level[i] + 1;
  }
  printf("%d %d\n", depth, wrong);
  return wrong;
}
