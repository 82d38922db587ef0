// A spawned function never returns. Ends by _exit, by quick_exit, by a system call or by another program; "fork" leaves a
// copy of the process that ends after it.
#include <contech/cilk.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long count;

__attribute__((noinline)) static void done(void) { count++; }

static void forever(const char *how) {
  done();
  if (strcmp(how, "_exit") == 0) _exit(5);
  if (strcmp(how, "quick_exit") == 0) quick_exit(6);
  if (strcmp(how, "exit_group") == 0) syscall(SYS_exit_group, 8);
  if (strcmp(how, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 9", (char *)0);
  abort();
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
  if (strcmp(argv[1], "fork") == 0) return 7;
  cilk_spawn(forever, argv[1]);
  cilk_sync;
  return 1;
}
