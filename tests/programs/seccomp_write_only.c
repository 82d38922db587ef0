// A filter that ends a program at any system call but write and exit: the program ends as it would have. What it did
// before is recorded.
// MODE: incomplete
// EXPECT: exit 13
// NOTE: seccomp leaves a thread no way to record
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
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

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write), ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  work(1000);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  work(1000000);
  if (write(1, "confined\n", 9) != 9) return 1;
  return 13;
}
