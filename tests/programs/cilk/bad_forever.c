// A spawned function never returns. Ends by the clock, in code without calls (argument "loop") or in calls ("calls"); by
// a fault, by a full stack, by _exit, by quick_exit, by a system call or by another program; "fork" leaves a copy of the process that ends after it.
#include <contech/cilk.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long count;

__attribute__((noinline)) static void done(void) { count++; }

__attribute__((noinline)) static long deep(long n) {
  volatile char room[4096];
  room[n % 4096] = (char)n;
  return n < 0 ? 0 : deep(n + 1) + room[n % 4096];
}

static void forever(const char *how) {
  done();
  if (strcmp(how, "_exit") == 0) _exit(5);
  if (strcmp(how, "quick_exit") == 0) quick_exit(6);
  if (strcmp(how, "exit_group") == 0) syscall(SYS_exit_group, 8);
  if (strcmp(how, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 9", (char *)0);
  if (strcmp(how, "fault") == 0) *(volatile int *)8 = 1;
  if (strcmp(how, "stack") == 0) deep(0);
  const struct itimerval soon = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &soon, 0);
  for (;;)
    if (strcmp(how, "calls") == 0)
      done();
    else
      for (long i = 0; i < 1000000000; i++) count = i;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const pid_t own = getpid();
  if (strcmp(argv[1], "fork") == 0 && fork() == 0) {
    while (getppid() == own) usleep(1000);
    done();
    return 0;
  }
  done();
  struct sigaction seen;
  if (sigaction(SIGTERM, 0, &seen) || seen.sa_handler != SIG_DFL) return 3;
  if (signal(SIGUSR2, SIG_DFL) != SIG_DFL) return 4;
  if (strcmp(argv[1], "fork") == 0) return 7;
  cilk_spawn(forever, argv[1]);
  cilk_sync;
  return 1;
}
