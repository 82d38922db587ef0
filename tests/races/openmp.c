// Races between OpenMP tasks, each beside the program without it: `openmp CASE racy|fixed`.
// The accesses of a case are in functions whose names begin with its name.
#include <omp.h>
#include <stdio.h>
#include <string.h>

static int fixed;
long x, y, a[64], b[64], total;

static void shared_sum(void) {
  long sum = 0;
  if (fixed) {
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 64; i++) sum += i;
  } else {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 64; i++) sum += i;
  }
  total = sum;
}

static void nowait_between_loops(void) {
#pragma omp parallel num_threads(2)
  {
    if (fixed) {
#pragma omp for schedule(static)
      for (int i = 0; i < 64; i++) a[i] = i;
    } else {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < 64; i++) a[i] = i;
    }
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) b[i] = a[63 - i];
  }
}

static void tasks_without_depend(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    if (fixed) {
#pragma omp task depend(out : x)
      x = 1;
#pragma omp task depend(in : x)
      y = x;
    } else {
#pragma omp task
      x = 1;
#pragma omp task
      y = x;
    }
  }
}

static void missing_taskwait(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    x = 1;
    if (fixed) {
#pragma omp taskwait
    }
    y = x;
  }
}

// The local variable lives on while a task that runs at once has the stack below it.
static long undeferred_between_and_local(void) {
  long local = 2, seen;
#pragma omp task shared(local)
  local -= 1;
#pragma omp task if (0)
  {}
  if (fixed) {
#pragma omp taskwait
  }
  seen = local;
#pragma omp taskwait
  return seen;
}

static void undeferred_between(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  total = undeferred_between_and_local();
}

// Outside of parallel regions one thread runs all tasks, each at once.
static void outside_of_regions_tasks(void) {
#pragma omp task
  x = 1;
  x += 2;
#pragma omp task
  y = x;
}

static void outside_of_regions(void) {
  if (fixed) {
    outside_of_regions_tasks();
  } else {
#pragma omp parallel num_threads(2)
#pragma omp single
    outside_of_regions_tasks();
  }
}

static void critical_names(void) {
#pragma omp parallel num_threads(2)
  {
    if (fixed || omp_get_thread_num() == 0) {
#pragma omp critical(one)
      x++;
    } else {
#pragma omp critical(two)
      x++;
    }
  }
}

static void masked_without_barrier(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp masked
    x = 3;
    if (fixed) {
#pragma omp barrier
    }
    if (omp_get_thread_num() == 1) y = x;
  }
}

static void shared_temporary(void) {
  long t = 0;
  if (fixed) {
#pragma omp parallel for num_threads(2) private(t)
    for (int i = 0; i < 64; i++) { t = i; a[i] = t; }
  } else {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 64; i++) { t = i; a[i] = t; }
  }
}

static void missing_atomic(void) {
#pragma omp parallel num_threads(2)
  {
    if (fixed) {
#pragma omp atomic
      x++;
    } else {
      x++;
    }
  }
}

static void sections_share(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    a[0] = 1;
#pragma omp section
    a[fixed] = 2;
  }
}

static void lock_on_one_side(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    int locks = fixed || omp_get_thread_num() == 0;
    if (locks) omp_set_lock(&lock);
    x++;
    if (locks) omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

static void carried_dependence(void) {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 1; i < 64; i++) a[i] = (fixed ? b : a)[i - 1] + 1;
}

// Hundreds of tasks, so that stacks and what libomp keeps of tasks serve one after the other.
static long recursion_of_tasks_at(int n) {
  long left = 0, right = 0;
  if (n < 2) return n;
#pragma omp task shared(left)
  left = recursion_of_tasks_at(n - 1);
#pragma omp task shared(left, right)
  {
    right = recursion_of_tasks_at(n - 2);
    if (!fixed && n == 5) right += left;
  }
#pragma omp taskwait
  return left + right;
}

static void recursion_of_tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  total = recursion_of_tasks_at(12);
}

static void taskloop_sum(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 64; i++) {
    if (fixed) a[i] = i;
    else total += i;
  }
}

int main(int argc, char **argv) {
  const char *name = argc > 2 ? argv[1] : "";
  fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
#define CASE(which) if (strcmp(name, #which) == 0) { which(); return 0; }
  CASE(shared_sum)
  CASE(nowait_between_loops)
  CASE(tasks_without_depend)
  CASE(missing_taskwait)
  CASE(undeferred_between)
  CASE(outside_of_regions)
  CASE(critical_names)
  CASE(masked_without_barrier)
  CASE(shared_temporary)
  CASE(missing_atomic)
  CASE(sections_share)
  CASE(lock_on_one_side)
  CASE(carried_dependence)
  CASE(recursion_of_tasks)
  CASE(taskloop_sum)
  fprintf(stderr, "no case %s\n", name);
  return 2;
}
