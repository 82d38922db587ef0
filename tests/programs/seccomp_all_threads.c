// A filter for all threads at once, the recorder's too, that ends the process at a system call which recording takes:
// the trace ends there and says so, and the program goes on.
// MODE: incomplete
// ARGS: kill
// NOTE: seccomp leaves a thread no way to record
// REPEAT: 3
// ENV: CONTECH_BUFFER=32K
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int z[5000];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
  for (int k = 0; k < 1000; k++) {
    pthread_mutex_lock(&m);
    for (int i = 0; i < 5000; i++) z[(i * 7 + k) % 5000] += z[i] & 3;
    pthread_mutex_unlock(&m);
  }
  return arg;
}

#define REFUSE(number, over) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, over, 0)

int main(int argc, char **argv) {
  unsigned refuse = argc > 1 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      REFUSE(SYS_mmap, 3), REFUSE(SYS_openat, 2), REFUSE(SYS_clone3, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, refuse),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) return 5;
  work(argv);
  pthread_join(t, 0);
  return 0;
}
