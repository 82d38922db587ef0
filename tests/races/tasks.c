// Races between OpenMP's explicit tasks, each beside the program without it: `tasks CASE racy|fixed`.
// The accesses of a case are in functions whose names begin with its name.
#include <omp.h>
#include <stdio.h>
#include <string.h>

static int fixed;
long x, y, a[64], total;

// Runs a body that generates tasks in one thread of two.
static void team(void (*body)(void)) {
#pragma omp parallel num_threads(2)
#pragma omp single
  body();
}

static void both_depend_in(void) {
  if (fixed) {
#pragma omp task depend(inout : x)
    x++;
#pragma omp task depend(inout : x)
    x++;
  } else {
#pragma omp task depend(in : x)
    x++;
#pragma omp task depend(in : x)
    x++;
  }
}

static void sets(void) {
  for (int i = 0; i < 4; i++) {
    if (fixed) {
#pragma omp task depend(mutexinoutset : x)
      x++;
    } else {
#pragma omp task depend(inoutset : x)
      x++;
    }
  }
}

static void other_item(void) {
#pragma omp task depend(out : a[0])
  a[0] = 1;
#pragma omp task depend(in : a[!fixed])
  y = a[0];
}

static void cousins(void) {
  if (fixed) {
#pragma omp task depend(out : x)
    {
#pragma omp task
      x = 1;
#pragma omp taskwait
    }
  } else {
#pragma omp task
    {
#pragma omp task depend(out : x)
      x = 1;
    }
  }
#pragma omp task depend(in : x)
  y = x;
}

// A task ends when its own code does, not when its children do.
static void children_of_dependences(void) {
#pragma omp task depend(out : x)
  {
#pragma omp task
    x = 1;
    if (fixed) {
#pragma omp taskwait
    }
  }
#pragma omp task depend(in : x)
  y = x;
}

static void grandchildren_start(void) {
#pragma omp task
  {
#pragma omp task
    x = 1;
  }
}
static void grandchildren(void) {
  if (fixed) {
#pragma omp taskgroup
    grandchildren_start();
  } else {
    grandchildren_start();
#pragma omp taskwait
  }
  y = x;
}

static void included(void) {
#pragma omp task final(fixed)
  {
#pragma omp task shared(x)
    x = 1;
    y = x;
  }
}

static void merged(void) {
#pragma omp task mergeable if (!fixed)
  x = 1;
  y = x;
}

static void untied(void) {
#pragma omp task untied
  {
    for (int i = 0; i < 4; i++) {
#pragma omp task
      a[i] = i;
#pragma omp taskyield
    }
    if (fixed) {
#pragma omp taskwait
    }
    y = a[3];
  }
}

// Parts of untied tasks follow each other on the stacks of all threads.
static long untied_parts_sum(long n) {
  volatile long local[64];
  for (int i = 0; i < 64; i++) local[i] = n;
  return local[0] + local[63];
}
static void untied_parts(void) {
  for (int i = 0; i < 64; i++) {
#pragma omp task untied firstprivate(i)
    {
      a[fixed ? i : i & 1] = untied_parts_sum(i);
#pragma omp taskyield
      a[fixed ? i : i & 1] += untied_parts_sum(i);
    }
  }
}

static void loop_without_group(void) {
  if (fixed) {
#pragma omp taskloop grainsize(8)
    for (int i = 0; i < 64; i++) a[i] = i;
  } else {
#pragma omp taskloop grainsize(8) nogroup
    for (int i = 0; i < 64; i++) a[i] = i;
  }
  y = a[63];
}

static void loop_reduction(void) {
  long sum = 0;
  if (fixed) {
#pragma omp taskloop grainsize(8) reduction(+ : sum)
    for (int i = 0; i < 64; i++) sum += i;
  } else {
#pragma omp taskloop grainsize(8) shared(sum)
    for (int i = 0; i < 64; i++) sum += i;
  }
  total = sum;
}

static void group_reduction(void) {
  long sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 4; i++) {
    if (fixed) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    } else {
#pragma omp task shared(sum)
      sum += i;
    }
  }
  total = sum;
}

static void detached(void) {
  omp_event_handle_t event;
#pragma omp task detach(event)
  {}
#pragma omp task firstprivate(event)
  {
    if (fixed) x = 1;
    omp_fulfill_event(event);
    if (!fixed) x = 1;
  }
#pragma omp task depend(in : y) if (0)
  {}
  // Only the detached task is waited for where the other one is a grandchild of no group.
  if (fixed) {
#pragma omp taskwait
  }
  y = x;
}

static void loop_variable(void) {
  static long i;
  for (i = 0; i < 4; i++) {
    if (fixed) {
#pragma omp task firstprivate(i)
      a[i] = 1;
    } else {
#pragma omp task
      a[i & 3] = 1;
    }
  }
}

static void escaping_local_start(void) {
  long local = 1;
#pragma omp task shared(local)
  local++;
  if (fixed) {
#pragma omp taskwait
  }
  total = local;
}
static void escaping_local(void) {
  escaping_local_start();
#pragma omp taskwait
}

static void dependence_objects(void) {
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
  for (int i = 0; i < 2; i++) {
    if (fixed) {
#pragma omp task depend(depobj : object)
      x++;
    } else {
#pragma omp task depend(inout : a[i])
      x++;
    }
  }
#pragma omp taskwait
#pragma omp depobj(object) destroy
}

static void iterated(void) {
  for (int i = 0; i < 4; i++) {
#pragma omp task depend(out : a[i])
    a[i] = i;
  }
#pragma omp task depend(iterator(k = 0 : 3 + fixed), in : a[k])
  y = a[0] + a[3];
}

static void wait_for_one(void) {
#pragma omp task depend(out : x)
  x = 1;
#pragma omp task depend(out : a[0])
  a[0] = 1;
#pragma omp taskwait depend(in : x)
  y = x;
  if (!fixed) y += *(volatile long *)a;
}

static void stopped_group(void) {
#pragma omp taskgroup
  {
#pragma omp task
    {
      if (!fixed) x = 1;
#pragma omp cancel taskgroup
    }
#pragma omp task
    x = 2;
  }
  y = x;
}

static void beside_the_parent(void) {
#pragma omp task
  x = 1;
  if (!fixed) x = 2;
#pragma omp taskwait
  if (fixed) x = 2;
}

static void list(void) {
  struct node { struct node *next; long value; } nodes[4] = {{nodes + 1}, {nodes + 2}, {nodes + 3}, {NULL}};
  for (struct node *node = nodes; node; node = node->next) {
#pragma omp task firstprivate(node) shared(nodes)
    (fixed ? node : nodes)->value++;
  }
#pragma omp taskwait
}

static void private_copies(void) {
  long t = 7;
  for (int i = 0; i < 4; i++) {
    if (fixed) {
#pragma omp task firstprivate(t)
      { t += i; a[i] = t; }
    } else {
#pragma omp task shared(t)
      { t += i; a[i] = t; }
    }
  }
#pragma omp taskwait
}

static void locked_tasks(void) {
  static omp_lock_t lock;
  omp_init_lock(&lock);
  for (int i = 0; i < 4; i++) {
#pragma omp task
    {
      if (fixed || i != 2) omp_set_lock(&lock);
      x++;
      if (fixed || i != 2) omp_unset_lock(&lock);
    }
  }
#pragma omp taskwait
  omp_destroy_lock(&lock);
}

static void critical_tasks(void) {
  for (int i = 0; i < 4; i++) {
#pragma omp task
    if (fixed) {
#pragma omp critical
      x++;
    } else x++;
  }
}

static void blocked_in_order(void) {
  for (int i = 1; i < 8; i++) {
    if (fixed) {
#pragma omp task depend(in : a[i - 1]) depend(out : a[i])
      a[i] = a[i - 1] + 1;
    } else {
#pragma omp task depend(out : a[i])
      a[i] = a[i - 1] + 1;
    }
  }
}

static void device_task(void) {
#pragma omp target nowait map(tofrom : x)
  x++;
  if (fixed) {
#pragma omp taskwait
  }
  y = x;
}

int main(int argc, char **argv) {
  const char *name = argc > 2 ? argv[1] : "";
  fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
#define CASE(which) if (strcmp(name, #which) == 0) { team(which); return 0; }
  CASE(both_depend_in)
  CASE(sets)
  CASE(other_item)
  CASE(cousins)
  CASE(children_of_dependences)
  CASE(grandchildren)
  CASE(included)
  CASE(merged)
  CASE(untied)
  CASE(untied_parts)
  CASE(loop_without_group)
  CASE(loop_reduction)
  CASE(group_reduction)
  CASE(detached)
  CASE(loop_variable)
  CASE(escaping_local)
  CASE(dependence_objects)
  CASE(iterated)
  CASE(wait_for_one)
  CASE(stopped_group)
  CASE(beside_the_parent)
  CASE(list)
  CASE(private_copies)
  CASE(locked_tasks)
  CASE(critical_tasks)
  CASE(blocked_in_order)
  CASE(device_task)
  fprintf(stderr, "no case %s\n", name);
  return 2;
}
