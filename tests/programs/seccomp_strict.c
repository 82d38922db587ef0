// A thread that gives up all system calls but read, write and exit goes on without being recorded, and
// ends as it would have.
// MODE: incomplete
// EXPECT: exit 5
// NOTE: seccomp leaves a thread no way to record
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long cells[1 << 12];

static void work(long n) {
  unsigned random = 1;
  for (long i = 0; i < n; i++) {
    random = random * 1664525 + 1013904223;
    cells[random >> 20] += i;
  }
}

int main(void) {
  work(1000000);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  work(1000000);
  if (write(1, "strict\n", 7) != 7) return 1;
  syscall(SYS_exit, 5);
}
