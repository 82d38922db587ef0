// Particles in a grid of cells that act on those in adjacent cells (deconstructing-overhead, section VII, in two
// dimensions; three quarters of the space are empty). `locks`: a lock for each cell that two partitions may write;
// `colours`: partitions of one colour are not adjacent, a stage for each colour, no locks; `refine`: the same, SIDE is the
// first one of partition refinement. Steps take turns with several SIDEs, as in 2,4,8. `say`: on stderr, for each SIDE (refine: the last one) a time in us that a twentieth of the
// later half of its steps stay under, without the moves.
#include "common.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <omp.h>
#include <vector>

static const char *const USAGE =
    "grid THREADS [locks|colours|refine [SIDE [PARTICLES [STEPS [even|clumps|corner [say]]]]]] (SIDE[,SIDE ...]: cells of a partition, from 2)";

// Cells of the space in each dimension, those that may have particles, units of length of a cell, most in a cell.
enum { SPACE = 256, USED = SPACE / 2, UNIT = 1024, FULL = 16 };

// All numbers are integers that wrap: their sums do not depend on the order.
struct Particle {
  int x, y;
  uint64_t vx, vy, density, ax, ay;
};
static std::vector<Particle> particles; // by cell
static int first[SPACE * SPACE + 1];    // of each cell
static int threads, side;
static std::vector<int> sides;

enum Phase { DENSITIES, FORCES };


struct CellLocks {
  std::vector<omp_lock_t> locks;
  CellLocks() : locks(SPACE * SPACE) {
    for (auto &l : locks) omp_init_lock(&l);
  }
  ~CellLocks() {
    for (auto &l : locks) omp_destroy_lock(&l);
  }
  static constexpr bool any = true;
  // On the rim of its partition, so that a neighbour's thread writes it, too.
  bool shared(int cell) const {
    int x = cell % SPACE % side, y = cell / SPACE % side;
    return x == 0 || y == 0 || x == side - 1 || y == side - 1;
  }
  void lock(int cell) {
    if (shared(cell)) omp_set_lock(&locks[cell]);
  }
  void unlock(int cell) {
    if (shared(cell)) omp_unset_lock(&locks[cell]);
  }
};
static std::unique_ptr<CellLocks> cell_locks;

template <Phase phase, bool Locks> static inline void pair(Particle &p, Particle &q, int cell_p, int cell_q) {
  int dx = p.x - q.x, dy = p.y - q.y, d2 = dx * dx + dy * dy;
  if (d2 >= UNIT * UNIT) return;
  uint64_t near = (uint64_t)(UNIT * UNIT - d2) >> 6;
  uint64_t f = phase == DENSITIES ? near * near * near >> 20 : (near * near >> 10) * ((p.density + q.density) >> 12 & 0xffff) >> 12;
  auto add = [&](Particle &to, int sign) {
    if (phase == DENSITIES) to.density += f;
    else to.ax += f * (uint64_t)(sign * dx), to.ay += f * (uint64_t)(sign * dy);
  };
  if (Locks) cell_locks->lock(cell_p);
  add(p, 1);
  if (Locks) cell_locks->unlock(cell_p), cell_locks->lock(cell_q);
  add(q, -1);
  if (Locks) cell_locks->unlock(cell_q);
}

// A cell with itself and with half of its neighbours: each pair once.
template <Phase phase, bool Locks> static void cell_work(int x, int y) {
  int cell = y * SPACE + x;
  if (first[cell] == first[cell + 1]) return;
  static const int NEXT[4][2] = {{1, 0}, {-1, 1}, {0, 1}, {1, 1}};
  for (int i = first[cell]; i < first[cell + 1]; i++)
    for (int j = i + 1; j < first[cell + 1]; j++) pair<phase, Locks>(particles[i], particles[j], cell, cell);
  for (auto &d : NEXT) {
    int nx = x + d[0], ny = y + d[1];
    if (nx < 0 || nx >= SPACE || ny >= SPACE) continue;
    int other = ny * SPACE + nx;
    for (int i = first[cell]; i < first[cell + 1]; i++)
      for (int j = first[other]; j < first[other + 1]; j++) pair<phase, Locks>(particles[i], particles[j], cell, other);
  }
}

// The cells of partition (px, py).
template <Phase phase, bool Locks> static void partition(int px, int py) {
  for (int y = py * side; y < std::min((py + 1) * side, (int)SPACE); y++)
    for (int x = px * side; x < std::min((px + 1) * side, (int)SPACE); x++) cell_work<phase, Locks>(x, y);
}

template <Phase phase> static void with_locks() {
  int across = (SPACE + side - 1) / side;
#pragma omp for schedule(dynamic, 1)
  for (int p = 0; p < across * across; p++) partition<phase, true>(p % across, p / across);
}

// Partition refinement (section VII.B): after every few steps the cells of a partition are multiplied by what equation 9
// makes of the time that workers lost between partitions (scheduling) and after their last one (imbalance), in the
// shortest of the steps: what else the machine does makes steps longer.
struct Refinement {
  enum { STAGES = 8, STEPS = 8, CELLS = SPACE * SPACE / 4 }; // cells of a colour
  struct alignas(64) Worker {
    double begun, ended, worked;
  };
  std::vector<Worker> workers; // by stage
  double size, shortest = INFINITY, change = 1;
  int steps = 0;
  Refinement() : workers((size_t)STAGES * threads), size((double)side * side) {}
  struct Part {
    Worker *worker;
    double begun;
    Part(Refinement *r, int stage) : worker(r ? &r->workers[stage * threads + omp_get_thread_num()] : nullptr) {
      if (!worker) return;
      begun = omp_get_wtime();
      if (!worker->begun) worker->begun = begun;
    }
    ~Part() {
      if (!worker) return;
      worker->ended = omp_get_wtime();
      worker->worked += worker->ended - begun;
    }
  };
  void step_took(double time) {
    double scheduling = 0, imbalance = 0, p = threads, all = p * time;
    for (int stage = 0; stage < STAGES; stage++) {
      Worker *from = &workers[stage * threads];
      double first = INFINITY, last = 0;
      for (int w = 0; w < threads; w++)
        if (from[w].begun) first = std::min(first, from[w].begun), last = std::max(last, from[w].ended);
      for (int w = 0; w < threads && last; w++) {
        bool any = from[w].begun;
        if (any) scheduling += from[w].ended - from[w].begun - from[w].worked;
        imbalance += last - (any ? from[w].ended : first);
        from[w] = Worker{};
      }
    }
    if (time < shortest) shortest = time, change = (p * p * scheduling / all + p - 1) / (p * p * imbalance / all + p - 1);
    if (++steps % STEPS || threads < 2) return;
    size = std::min(std::max(size * change, 4.0), CELLS / p);
    side = std::max(2, (int)std::lround(std::sqrt(size)));
    shortest = INFINITY;
  }
};

// Cell (x, y) writes column x - 1 to x + 1 and row y + 1: with two cells or more between them, partitions of a colour do
// not meet.
template <Phase phase> static void by_colours(Refinement *refinement) {
  int across = (SPACE + side - 1) / side;
  for (int colour = 0; colour < 4; colour++) {
    int cx = colour % 2, cy = colour / 2, nx = (across - cx + 1) / 2, ny = (across - cy + 1) / 2;
#pragma omp for schedule(dynamic, 1)
    for (int p = 0; p < nx * ny; p++) {
      Refinement::Part part(refinement, phase * 4 + colour);
      partition<phase, false>(2 * (p % nx) + cx, 2 * (p / nx) + cy);
    }
  }
}

static void move(Particle &p) {
  auto within = [](int at, uint64_t v) { return (at & ~(UNIT - 1)) | ((at + (int)(v >> 20 & 63)) & (UNIT - 1)); };
  p.vx += p.ax, p.vy += p.ay;
  p.x = within(p.x, p.vx), p.y = within(p.y, p.vy);
  p.density = p.ax = p.ay = 0;
}

// Where particle i would like to be: a cell of the used quarter.
static int place(long i, int input) {
  uint64_t r = random_at(4 * i);
  int x = (int)(r % USED), y = (int)((r >> 32) % USED);
  if (input == 1) { // eight clumps: the mean of three places around a centre
    uint64_t c = random_at(~(r % 8)), a = random_at(4 * i + 1);
    int width = USED / 8;
    x = (int)(c % USED + (a % width + (a >> 16) % width + (a >> 32) % width) / 3) % USED;
    y = (int)((c >> 32) % USED + ((a >> 8) % width + (a >> 24) % width + (a >> 40) % width) / 3) % USED;
  } else if (input == 2) { // the more the nearer to one corner
    uint64_t a = random_at(4 * i + 1);
    x = std::min(x, (int)(a % USED)), y = std::min(y, (int)((a >> 32) % USED));
  }
  return y * SPACE + x;
}

static void fill(long count, int input) {
  std::vector<int> in(SPACE * SPACE), where(count);
  for (long i = 0; i < count; i++) {
    int cell = place(i, input);
    while (in[cell] == FULL) cell = (cell / SPACE * SPACE + (cell % SPACE + 1) % USED + (cell % SPACE == USED - 1) * SPACE) % (USED * SPACE);
    in[cell]++, where[i] = cell;
  }
  for (int c = 0; c < SPACE * SPACE; c++) first[c + 1] = first[c] + in[c];
  std::vector<int> next(first, first + SPACE * SPACE);
  particles.resize(count);
  for (long i = 0; i < count; i++) {
    uint64_t r = random_at(4 * i + 2);
    Particle &p = particles[next[where[i]]++];
    p = Particle{where[i] % SPACE * UNIT + (int)(r % UNIT), where[i] / SPACE * UNIT + (int)((r >> 32) % UNIT), 0, 0, 0, 0, 0};
  }
}

static void move_all() {
  int count = (int)particles.size();
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < count; i++) move(particles[i]);
}

static void step(bool locks, Refinement *refinement) {
#pragma omp parallel num_threads(threads)
  {
    if (locks) with_locks<DENSITIES>(), with_locks<FORCES>();
    else by_colours<DENSITIES>(refinement), by_colours<FORCES>(refinement);
  }
}

static void sequential_step() {
  for (int y = 0; y < SPACE; y++)
    for (int x = 0; x < SPACE; x++) cell_work<DENSITIES, false>(x, y);
  for (int y = 0; y < SPACE; y++)
    for (int x = 0; x < SPACE; x++) cell_work<FORCES, false>(x, y);
}

static void read_sides(const char *text) {
  for (const char *at = text; *at || at == text;) {
    char *end;
    long value = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || value < 2 || value > SPACE) usage(USAGE);
    sides.push_back((int)value);
    at = *end ? end + 1 : end;
  }
}

int main(int argc, char **argv) {
  threads = thread_count(argc, argv, USAGE);
  bool refine = argc > 2 && !strcmp(argv[2], "refine");
  bool locks = !refine && !variant(argc, argv, "locks", "colours", USAGE);
  read_sides(argc > 3 ? argv[3] : "4");
  side = sides[0];
  long count = number(argc, argv, 4, 1, 60000, USAGE), steps = number(argc, argv, 5, 1, 40, USAGE);
  static const char *const INPUTS[] = {"even", "clumps", "corner"};
  int input = argc > 6 ? -1 : 0;
  for (int i = 0; i < 3 && input < 0; i++)
    if (!strcmp(argv[6], INPUTS[i])) input = i;
  bool say = argc > 7 && !strcmp(argv[7], "say");
  if (input < 0 || count > (long)USED * USED * FULL) usage(USAGE);
  fill(count, input);
  if (locks) cell_locks = std::make_unique<CellLocks>();
  std::unique_ptr<Refinement> refinement;
  if (refine && threads) refinement = std::make_unique<Refinement>();
  std::vector<std::vector<double>> times(refine ? 1 : sides.size());
  for (long s = 0; s < steps; s++) {
    size_t turn = s % times.size();
    if (!refine) side = sides[turn];
    auto begun = std::chrono::steady_clock::now();
    if (threads) step(locks, refinement.get());
    else sequential_step();
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
    if (refinement) refinement->step_took(took.count() / 1e6);
    if (s >= steps / 2) times[turn].push_back(took.count());
    if (threads) move_all();
    else
      for (auto &p : particles) move(p);
  }
  uint64_t sum = 0;
  for (auto &p : particles) sum = sum * 31 + (uint64_t)p.x + (uint64_t)p.y * 7 + p.vx + p.vy;
  printf("%016lx\n", sum);
  if (say) {
    for (size_t i = 0; i < times.size(); i++) {
      std::sort(times[i].begin(), times[i].end());
      if (!times[i].empty()) fprintf(stderr, "%d %.1f\n", refine ? side : sides[i], times[i][times[i].size() / 20]);
    }
  }
}
