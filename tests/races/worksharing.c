// Races in OpenMP's worksharing and synchronisation, each beside the program without it: `worksharing CASE racy|fixed`.
// The accesses of a case are in functions whose names begin with its name.
#include <omp.h>
#include <stdio.h>
#include <string.h>

static int fixed;
long x, y, a[64], b[64], m[8][8], total;
#define PARALLEL _Pragma("omp parallel num_threads(2)")
#define FOR _Pragma("omp parallel for num_threads(2) schedule(static)")

static void last_value(void) {
  long last = 0;
  if (fixed) {
#pragma omp parallel for num_threads(2) lastprivate(last)
    for (int i = 0; i < 64; i++) last = a[i];
  } else {
    FOR for (int i = 0; i < 64; i++) last = a[i];
  }
  total = last;
}

static void inner_index(void) {
  int j;
  if (fixed) {
#pragma omp parallel for num_threads(2) collapse(2)
    for (int i = 0; i < 8; i++)
      for (j = 0; j < 8; j++) m[i][j] = i;
  } else {
    FOR for (int i = 0; i < 8; i++)
      for (j = 0; j < 8; j++) m[i][j & 7] = i;
  }
}

static void beyond_the_row(void) {
  FOR for (int i = 1; i < 8; i++)
    for (int j = fixed; j < 8; j++) m[i][j] = m[i][j - 1] + 1;
}

static void next_element(void) {
  FOR for (int i = 0; i < 63; i++) a[i] = (fixed ? b : a)[i + 1];
}

static void indirect(void) {
  int index[64];
  for (int i = 0; i < 64; i++) index[i] = fixed ? 63 - i : i % 32;
  FOR for (int i = 0; i < 64; i++) a[index[i]] += i;
}

static void same_static_schedule(void) {
  PARALLEL {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) a[i] = i;
    if (fixed) {
#pragma omp for schedule(static)
      for (int i = 0; i < 64; i++) b[i] = a[i];
    } else {
#pragma omp for schedule(static, 1)
      for (int i = 0; i < 64; i++) b[i] = a[i];
    }
  }
}

static void one_thread_writes(void) {
  PARALLEL {
    if (fixed) {
#pragma omp single
      x = 1;
    } else {
#pragma omp single nowait
      x = 1;
    }
    a[omp_get_thread_num()] = x;
  }
}

static void handed_copies(void) {
  PARALLEL {
    long mine = 0;
    if (fixed) {
#pragma omp single copyprivate(mine)
      mine = 5;
    } else {
#pragma omp single nowait
      x = 5;
      mine = x;
    }
    a[omp_get_thread_num()] = mine;
  }
}

static void sections_go_on(void) {
  PARALLEL {
    if (fixed) {
#pragma omp sections
      {
#pragma omp section
        x = 1;
#pragma omp section
        y = 1;
      }
    } else {
#pragma omp sections nowait
      {
#pragma omp section
        x = 1;
#pragma omp section
        y = 1;
      }
    }
    a[omp_get_thread_num()] = x + y;
  }
}

static long per_thread, not_per_thread;
#pragma omp threadprivate(per_thread)
static void thread_variables(void) {
  PARALLEL for (int i = 0; i < 4; i++) {
    if (fixed) per_thread += i; else not_per_thread += i;
  }
}

static void copied_in(void) {
  long *of_main = &per_thread;
  per_thread = 3;
#pragma omp parallel num_threads(2) copyin(per_thread)
  {
    per_thread += omp_get_thread_num();
    if (!fixed) ++*of_main;
  }
}

static void atomic_flag_order(void) {
  int flag = 0;
  PARALLEL {
    if (omp_get_thread_num() == 0) {
      x = 1;
      if (fixed) {
#pragma omp atomic write release
        flag = 1;
      } else {
#pragma omp atomic write relaxed
        flag = 1;
      }
    } else {
      int seen = 0;
      while (!seen) {
        if (fixed) {
#pragma omp atomic read acquire
          seen = flag;
        } else {
#pragma omp atomic read relaxed
          seen = flag;
        }
      }
      y = x;
    }
  }
}

static void flushed_flag(void) {
  int flag = 0;
  PARALLEL {
    if (omp_get_thread_num() == 0) {
      x = 1;
      if (fixed) {
#pragma omp flush
      }
#pragma omp atomic write relaxed
      flag = 1;
    } else {
      int seen = 0;
      while (!seen) {
#pragma omp atomic read relaxed
        seen = flag;
      }
      if (fixed) {
#pragma omp flush
      }
      y = x;
    }
  }
}

static void captured_index(void) {
  long next = 0;
  FOR for (int i = 0; i < 64; i++) {
    long mine;
    if (fixed) {
#pragma omp atomic capture
      mine = next++;
    } else mine = next++;
    a[mine & 63] = i;
  }
}

static void atomic_on_one_side(void) {
  PARALLEL {
    if (omp_get_thread_num() == 0) {
#pragma omp atomic update
      x++;
    } else if (fixed) {
#pragma omp atomic read
      y = x;
    } else y = x;
  }
}

static void nested_lock(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  PARALLEL {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    if (fixed) x++;
    omp_unset_nest_lock(&lock);
    if (fixed) x++;
    omp_unset_nest_lock(&lock);
    if (!fixed) x++;
  }
  omp_destroy_nest_lock(&lock);
}

static void tested_lock(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  PARALLEL {
    int taken = 0;
    while (fixed && !(taken = omp_test_lock(&lock)));
    x++;
    if (taken) omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

static void reduced_section(void) {
  long sums[4] = {0};
  if (fixed) {
#pragma omp parallel for num_threads(2) reduction(+ : sums[:4])
    for (int i = 0; i < 64; i++) sums[i & 3] += i;
  } else {
    FOR for (int i = 0; i < 64; i++) sums[i & 3] += i;
  }
  total = sums[0];
}

static void read_before_reduced(void) {
  long sum = 0;
  PARALLEL {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 64; i++) sum += i;
    if (fixed) {
#pragma omp barrier
    }
    a[omp_get_thread_num()] = sum;
  }
}

static void smallest(void) {
  long least = 100;
  if (fixed) {
#pragma omp parallel for num_threads(2) reduction(min : least)
    for (int i = 0; i < 64; i++) if (a[i] < least) least = a[i];
  } else {
    FOR for (int i = 0; i < 64; i++) if (a[i] <= least) least = a[i];
  }
  total = least;
}

static void vector_loop(void) {
  long t = 0;
  if (fixed) {
#pragma omp parallel for simd num_threads(2) private(t)
    for (int i = 0; i < 64; i++) { t = b[i]; a[i] = t; }
  } else {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 64; i++) { t = b[i]; a[i] = t; }
  }
}

static void orphaned_loop(long *to) {
#pragma omp for
  for (int i = 0; i < 64; i++) to[fixed ? i : i & 1] = i;
}
static void orphaned(void) { PARALLEL orphaned_loop(a); }

static long static_local_next(void) {
  static long common;
  long own = 0;
  return fixed ? ++own : ++common;
}
static void static_local(void) { PARALLEL a[omp_get_thread_num()] = static_local_next(); }

static void own_element(void) {
  PARALLEL a[fixed ? omp_get_thread_num() : 0] = 1;
}

static void ordered_sum(void) {
#pragma omp parallel for num_threads(2) ordered
  for (int i = 0; i < 64; i++) {
    if (fixed) {
#pragma omp ordered
      x += i;
    } else x += i;
  }
}

static void doacross(void) {
#pragma omp parallel for num_threads(2) ordered(1)
  for (int i = 1; i < 64; i++) {
    if (fixed) {
#pragma omp ordered depend(sink : i - 1)
      a[i] = a[i - 1] + 1;
    } else a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
  }
}

static void doacross_too_far(void) {
#pragma omp parallel for num_threads(2) schedule(static, 1) ordered(1)
  for (int i = 2; i < 64; i++) {
    if (fixed) {
#pragma omp ordered depend(sink : i - 1)
    } else {
#pragma omp ordered depend(sink : i - 2)
    }
    a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
  }
}

static void prefix_sum(void) {
  long s = 0;
  if (fixed) {
#pragma omp parallel for num_threads(2) reduction(inscan, + : s)
    for (int i = 0; i < 64; i++) {
      s += a[i];
#pragma omp scan inclusive(s)
      b[i] = s;
    }
  } else {
    FOR for (int i = 0; i < 64; i++) { s += a[i]; b[i] = s; }
  }
}

static void cancelled_loop(void) {
#pragma omp parallel num_threads(2)
#pragma omp for
  for (int i = 0; i < 64; i++) {
    if (fixed) {
#pragma omp atomic write
      x = i;
    } else x = i;
#pragma omp cancel for if (i == 40)
#pragma omp cancellation point for
  }
}

static void serial_region(void) {
#pragma omp parallel num_threads(2) if (!fixed)
  x++;
}

static void inner_team(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  if (fixed) {
#pragma omp atomic
    x++;
  } else x++;
}

static void league(void) {
  long sum = 0;
  if (fixed) {
#pragma omp target teams distribute parallel for num_teams(2) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < 64; i++) sum += i;
  } else {
#pragma omp target teams distribute parallel for num_teams(2) map(tofrom : sum)
    for (int i = 0; i < 64; i++) sum += i;
  }
  total = sum;
}

static void in_place_stencil(void) {
  for (int step = 0; step < 2; step++) {
    FOR for (int i = 1; i < 63; i++) (fixed ? b : a)[i] = a[i - 1] + a[i + 1];
    if (fixed) memcpy(a, b, sizeof a);
  }
}

static void aliased_pointers(void) {
  long *to = a, *from = fixed ? a + 32 : a + 1;
  FOR for (int i = 0; i < 32; i++) to[i] = from[i] + 1;
}

static void barrier_in_turns(void) {
  PARALLEL {
    int me = omp_get_thread_num();
    for (int step = 0; step < 4; step++) {
      a[me] = step;
#pragma omp barrier
      b[me] = a[!me];
      if (fixed) {
#pragma omp barrier
      }
    }
  }
}

static void scoped_sum(void) {
  PARALLEL {
    if (fixed) {
#pragma omp scope reduction(+ : x)
      x += 1;
    } else x += 1;
  }
}

static void guarded_load_get(int see, long *from);
static void guarded_load(void) {
  // Only thread 0 reads what it writes.
  PARALLEL guarded_load_get(omp_get_thread_num() == 0, &x);
}
static void guarded_load_get(int see, long *from) {
  long got = 0;
  for (int i = 0; i < 8; i++) got += see ? *from : i;
  if (!fixed) got += *(volatile long *)from;
  if (see) *from = 1;
  a[!see] = got;
}

int main(int argc, char **argv) {
  const char *name = argc > 2 ? argv[1] : "";
  fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
#define CASE(which) if (strcmp(name, #which) == 0) { which(); return 0; }
  CASE(last_value)
  CASE(inner_index)
  CASE(beyond_the_row)
  CASE(next_element)
  CASE(indirect)
  CASE(same_static_schedule)
  CASE(one_thread_writes)
  CASE(handed_copies)
  CASE(sections_go_on)
  CASE(thread_variables)
  CASE(copied_in)
  CASE(atomic_flag_order)
  CASE(flushed_flag)
  CASE(captured_index)
  CASE(atomic_on_one_side)
  CASE(nested_lock)
  CASE(tested_lock)
  CASE(reduced_section)
  CASE(read_before_reduced)
  CASE(smallest)
  CASE(vector_loop)
  CASE(orphaned)
  CASE(static_local)
  CASE(own_element)
  CASE(ordered_sum)
  CASE(doacross)
  CASE(doacross_too_far)
  CASE(prefix_sum)
  CASE(cancelled_loop)
  CASE(serial_region)
  CASE(inner_team)
  CASE(league)
  CASE(in_place_stencil)
  CASE(aliased_pointers)
  CASE(barrier_in_turns)
  CASE(scoped_sum)
  CASE(guarded_load)
  fprintf(stderr, "no case %s\n", name);
  return 2;
}
