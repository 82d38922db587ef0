// A filter that lets a program make only some system calls, and refuses others (or ends the program at them):
// it makes threads and goes on as without being recorded. What it did before is recorded.
// MODE: incomplete
// EXPECT: exit 13
// ENV: CONTECH_BUFFER=32K
// ARGS: kill
// NOTE: seccomp leaves a thread no way to record
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long cells[1 << 12];

static long work(long n) {
  unsigned random = 1;
  long sum = 0;
  for (long i = 0; i < n; i++) {
    random = random * 1664525 + 1013904223;
    cells[random >> 20] += i;
    sum += cells[random >> 8 & 4095];
  }
  return sum;
}

static void *run(void *arg) {
  work(300000);
  return arg;
}

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int argc, char **argv) {
  unsigned refuse = argc > 1 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write), ALLOW(SYS_exit), ALLOW(SYS_exit_group), ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap),
      ALLOW(SYS_mprotect), ALLOW(SYS_futex), ALLOW(SYS_clone3), ALLOW(SYS_clone), ALLOW(SYS_rseq),
      ALLOW(SYS_set_robust_list), ALLOW(SYS_getrandom), ALLOW(SYS_rt_sigaction), ALLOW(SYS_madvise), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn),
      ALLOW(SYS_newfstatat), ALLOW(SYS_fstat), ALLOW(SYS_gettid), ALLOW(SYS_getpid),
      BPF_STMT(BPF_RET | BPF_K, refuse),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  pthread_t t[2];
  work(1000);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  for (int i = 0; i < 2; i++) if (pthread_create(&t[i], 0, run, 0)) return 4;
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  work(100000);
  return 13;
}
