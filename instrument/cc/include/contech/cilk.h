// Cilk's spawn, sync and parallel for, in C and C++, on OpenMP tasks or serially.
//
//   cilk:      x = cilk_spawn fib(n - 1);       here:   cilk_spawn_to(x, fib, n - 1);
//              cilk_spawn sort(a, n);                   cilk_spawn(sort, a, n);
//              cilk_sync;                               cilk_sync;
//              cilk_for (int i = a; i < b; ++i) f(i);   cilk_for (int, i, a, b, grain) f(i); cilk_end_for
//                                                       cilk_for_range(f, a, b, grain, context);   (C; see the end)
//
// As in Cilk, the arguments are evaluated before the spawn, in the spawning function. The result is stored when the
// spawned function returns, and may be read after the next cilk_sync. A function that spawns must cilk_sync before it
// returns: Cilk does this by itself, and C cannot. Spawned calls are never inlined.
//
//   -fopenmp    spawns are OpenMP tasks, cilk_sync is taskwait, grains of a cilk_for are tasks. Call the
//               first function that spawns by cilk_run(f, args) (or cilk_run_to(x, f, args)): it makes the threads.
//               A taskwait also waits for the tasks of the caller, if the function that syncs is called and not
//               spawned: spawn such calls, too, or there is less parallelism than in Cilk.
//   otherwise   everything runs serially, in Cilk's serial order. contech-cc then marks spawns and syncs, and
//               `contech-backend workspan` and --contech-mode=workspan measure the program's work and span.
#ifndef CONTECH_CILK_H
#define CONTECH_CILK_H

#ifdef __cplusplus
#define CILK_AUTO auto
#define CILK_TYPEOF(x) decltype(&(x))
extern "C" {
#else
#define CILK_AUTO __auto_type
#define CILK_TYPEOF(x) __typeof__(&(x))
#endif
#if defined(__CONTECH__) && !defined(_OPENMP)
// Marks the next call in this function as a spawn.
void contech_cilk_spawn(void);
// Waits, in this function, for everything that the function has spawned.
void contech_cilk_sync(void);
#define CILK_MARK_SPAWN contech_cilk_spawn();
#define CILK_MARK_SYNC contech_cilk_sync()
#else
#define CILK_MARK_SPAWN
#define CILK_MARK_SYNC ((void)0)
#endif
#ifdef __cplusplus
}
#endif

#define CILK_PRAGMA(text) _Pragma(#text)
#ifdef _OPENMP
#define CILK_TASK(...) CILK_PRAGMA(omp task default(shared) firstprivate(__VA_ARGS__))
#define CILK_TASK_ALONE CILK_PRAGMA(omp task default(shared))
#define cilk_sync CILK_PRAGMA(omp taskwait)
#define CILK_TEAM CILK_PRAGMA(omp parallel) CILK_PRAGMA(omp single)
#else
#define CILK_TASK(...) CILK_MARK_SPAWN
#define CILK_TASK_ALONE CILK_MARK_SPAWN
#define cilk_sync CILK_MARK_SYNC
#define CILK_TEAM
#endif
#ifdef __clang__
#define CILK_CALL [[clang::noinline]]
#else
#define CILK_CALL
#endif

#define CILK_PICK(_0, _1, _2, _3, _4, _5, _6, _7, _8, NAME, ...) NAME
#define CILK_COUNT(...) CILK_PICK(0, ##__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define CILK_JOIN_(a, b) a##b
#define CILK_JOIN(a, b) CILK_JOIN_(a, b)

// Runs f(args) with a team of threads that executes what it spawns.
#define cilk_run(f, ...) do { CILK_TEAM { f(__VA_ARGS__); } } while (0)
#define cilk_run_to(x, f, ...) do { CILK_TEAM { (x) = f(__VA_ARGS__); } } while (0)

// Runs f(args) in parallel with what follows, until the next cilk_sync.
#define cilk_spawn(f, ...) CILK_JOIN(CILK_SPAWN_, CILK_COUNT(__VA_ARGS__))(f, ##__VA_ARGS__)
// Runs x = f(args) in the same way.
#define cilk_spawn_to(x, f, ...) CILK_JOIN(CILK_SPAWN_TO_, CILK_COUNT(__VA_ARGS__))(x, f, ##__VA_ARGS__)

#define CILK_SPAWN_0(f) do { CILK_TASK_ALONE CILK_CALL f(); } while (0)
#define CILK_SPAWN_TO_0(x, f) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_TASK(cilk_r) CILK_CALL *cilk_r = f(); } while (0)
#define CILK_SPAWN_1(f, v0) do { CILK_AUTO cilk_0 = (v0); CILK_TASK(cilk_0) CILK_CALL f(cilk_0); } while (0)
#define CILK_SPAWN_TO_1(x, f, v0) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_TASK(cilk_r, cilk_0) CILK_CALL *cilk_r = f(cilk_0); } while (0)
#define CILK_SPAWN_2(f, v0, v1) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_TASK(cilk_0, cilk_1) CILK_CALL f(cilk_0, cilk_1); } while (0)
#define CILK_SPAWN_TO_2(x, f, v0, v1) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_TASK(cilk_r, cilk_0, cilk_1) CILK_CALL *cilk_r = f(cilk_0, cilk_1); } while (0)
#define CILK_SPAWN_3(f, v0, v1, v2) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_TASK(cilk_0, cilk_1, cilk_2) CILK_CALL f(cilk_0, cilk_1, cilk_2); } while (0)
#define CILK_SPAWN_TO_3(x, f, v0, v1, v2) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_TASK(cilk_r, cilk_0, cilk_1, cilk_2) CILK_CALL *cilk_r = f(cilk_0, cilk_1, cilk_2); } while (0)
#define CILK_SPAWN_4(f, v0, v1, v2, v3) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_TASK(cilk_0, cilk_1, cilk_2, cilk_3) CILK_CALL f(cilk_0, cilk_1, cilk_2, cilk_3); } while (0)
#define CILK_SPAWN_TO_4(x, f, v0, v1, v2, v3) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_TASK(cilk_r, cilk_0, cilk_1, cilk_2, cilk_3) CILK_CALL *cilk_r = f(cilk_0, cilk_1, cilk_2, cilk_3); } while (0)
#define CILK_SPAWN_5(f, v0, v1, v2, v3, v4) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_TASK(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4) CILK_CALL f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4); } while (0)
#define CILK_SPAWN_TO_5(x, f, v0, v1, v2, v3, v4) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_TASK(cilk_r, cilk_0, cilk_1, cilk_2, cilk_3, cilk_4) CILK_CALL *cilk_r = f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4); } while (0)
#define CILK_SPAWN_6(f, v0, v1, v2, v3, v4, v5) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_AUTO cilk_5 = (v5); CILK_TASK(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5) CILK_CALL f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5); } while (0)
#define CILK_SPAWN_TO_6(x, f, v0, v1, v2, v3, v4, v5) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_AUTO cilk_5 = (v5); CILK_TASK(cilk_r, cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5) CILK_CALL *cilk_r = f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5); } while (0)
#define CILK_SPAWN_7(f, v0, v1, v2, v3, v4, v5, v6) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_AUTO cilk_5 = (v5); CILK_AUTO cilk_6 = (v6); CILK_TASK(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6) CILK_CALL f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6); } while (0)
#define CILK_SPAWN_TO_7(x, f, v0, v1, v2, v3, v4, v5, v6) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_AUTO cilk_5 = (v5); CILK_AUTO cilk_6 = (v6); CILK_TASK(cilk_r, cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6) CILK_CALL *cilk_r = f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6); } while (0)
#define CILK_SPAWN_8(f, v0, v1, v2, v3, v4, v5, v6, v7) do { CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_AUTO cilk_5 = (v5); CILK_AUTO cilk_6 = (v6); CILK_AUTO cilk_7 = (v7); CILK_TASK(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6, cilk_7) CILK_CALL f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6, cilk_7); } while (0)
#define CILK_SPAWN_TO_8(x, f, v0, v1, v2, v3, v4, v5, v6, v7) do { CILK_TYPEOF(x) cilk_r = &(x); CILK_AUTO cilk_0 = (v0); CILK_AUTO cilk_1 = (v1); CILK_AUTO cilk_2 = (v2); CILK_AUTO cilk_3 = (v3); CILK_AUTO cilk_4 = (v4); CILK_AUTO cilk_5 = (v5); CILK_AUTO cilk_6 = (v6); CILK_AUTO cilk_7 = (v7); CILK_TASK(cilk_r, cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6, cilk_7) CILK_CALL *cilk_r = f(cilk_0, cilk_1, cilk_2, cilk_3, cilk_4, cilk_5, cilk_6, cilk_7); } while (0)

// Parallel loops. Each index of [from, to) is executed once, in any order, and the loop ends when all of them have
// been. A loop is compiled as in Cilk: halves of the range are spawned until at most `grain` indices are left, which
// run one after the other. So its span is that of one grain and of the halvings that lead to it, and not that of all
// grains. A larger grain costs fewer spawns and leaves less parallelism. A grain below 1 counts as 1.

// Calls f(low, high, context), a void f(long low, long high, void *context), for the grains [low, high) of [from,
// to). It works in C and C++, serially and on OpenMP tasks, and `contech-backend workspan` and
// --contech-mode=workspan see it.
#define cilk_for_range(f, from, to, grain, context) cilk_for_halves((f), (from), (to), (grain), (context))

static __attribute__((noinline, unused)) void cilk_for_halves(void (*f)(long, long, void *), long low, long high, long grain,
                                                              void *context) {
  if (high - low > grain && high - low > 1) {
    long mid = low + (high - low) / 2;
    cilk_spawn(cilk_for_halves, f, low, mid, grain, context);
    CILK_CALL cilk_for_halves(f, mid, high, grain, context);
    cilk_sync;
    return;
  }
  // The function is not inlined, so that a profile names the lines of the body.
  if (low < high) CILK_CALL f(low, high, context);
}

// A loop with its body in place: a statement that ends with cilk_end_for. The body may `continue`, but no break,
// return or goto may leave it. If the body spawns, it must cilk_sync at its end. It uses the variables of the function
// around it, and not copies.
//   C++     The range is halved as above. (Without -fopenmp, other compilers than contech-c++ make it a serial loop.)
//   C       C cannot make a function of the body. With -fopenmp the loop is a taskloop, whose tasks are grains of up
//           to twice the size. Otherwise it is a serial loop, in which a profile sees no parallelism; use
//           cilk_for_range instead.
#if defined(__cplusplus) && (defined(_OPENMP) || defined(__CONTECH__))
template <class Index, class Body>
__attribute__((noinline)) void cilk_for_body(Index low, Index high, long grain, const Body &body) {
  auto left = high - low;
  if (low < high && left > 1 && (grain < 1 || left > static_cast<decltype(left)>(grain))) {
    Index mid = static_cast<Index>(low + left / 2);
    CILK_TASK(low, mid, grain) CILK_CALL cilk_for_body(low, mid, grain, body);
    CILK_CALL cilk_for_body(mid, high, grain, body);
    cilk_sync;
    return;
  }
  if (low < high) CILK_CALL body(low, high);
}
#define cilk_for(type, i, from, to, grain) \
  do { type cilk_from = (from); type cilk_to = (to); long cilk_grain = (grain); \
    auto cilk_body = [&](type cilk_low, type cilk_high) { for (type i = cilk_low; i < cilk_high; ++i) {
#define cilk_end_for } }; cilk_for_body(cilk_from, cilk_to, cilk_grain, cilk_body); } while (0);
#elif defined(_OPENMP)
#define cilk_for(type, i, from, to, grain) \
  do { CILK_PRAGMA(omp taskloop grainsize((grain) < 1 ? 1 : (grain)) default(shared)) for (type i = (from); i < (to); ++i) {
#define cilk_end_for } } while (0);
#else
#define cilk_for(type, i, from, to, grain) do { (void)(grain); for (type i = (from); i < (to); ++i) {
#define cilk_end_for } } while (0);
#endif

#endif
