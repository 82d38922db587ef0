//! What a program asks of the system: processes that it makes in every way, descriptors, and stops.

use super::Generator;

/// Makes a process that calls a function, and gives what it said. With other threads only `fork` is
/// allowed: the others leave the C library's locks as they are.
const FORKS: &str = r"#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static u64 in_child(u64 x) { fuel = 20; u64 r = TRY(table[x & 3](x, &pool[7], 3)); return r & 63; }
static int in_clone(void *x) { return (int)in_child(*(u64 *)x); }
static NOINL u64 forked(int how, u64 x) {
  static u64 stack[8192];
  int p = -1, status = 0;
  switch (how) {
    case 0: p = fork(); break;
    case 1: p = _Fork(); break;
    case 2: p = (int)syscall(SYS_fork); break;
    case 3: p = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); break;
    case 4: p = clone(in_clone, stack + 8192, SIGCHLD, &x); break;
    case 5: p = clone(in_clone, stack + 8192, CLONE_VM | CLONE_VFORK | SIGCHLD, &x); break;
    default: p = vfork(); break;
  }
  if (!p) _exit((int)in_child(x));
  while (p > 0 && waitpid(p, &status, 0) < 0) ;
  return p < 0 ? 99 : (u64)status;
}
";

/// Opens, copies, uses and closes descriptors. Their numbers count where no other thread opens any.
const DESCRIPTORS: &str = r#"#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
static NOINL u64 descriptors(u32 x, u32 counts) {
  u64 r = 0, e = 1; int p[2], f; u8 b[32];
  for (int i = 0; i < 9; i++) {
    x = x * 1664525u + 1013904223u;
    memset(b, (int)(x >> 16), 32); p[0] = p[1] = f = 0;
    switch (x >> 27 & 7) {
      case 0: case 1:
        if (x & 512 ? pipe(p) : socketpair(AF_UNIX, SOCK_STREAM, 0, p)) return r;
        r += (u64)write(p[1], b, 1 + (x >> 20 & 15)) + (u64)read(p[0], b + 16, 16) + b[16];
        break;
      case 2: f = eventfd(3, 0); r += (u64)write(f, &e, 8) + (u64)read(f, &e, 8) + e; break;
      case 3: f = open("/dev/zero", O_RDONLY); r += (u64)read(f, b, 1 + (x >> 20 & 31)) + b[0] + b[31]; break;
      case 4: f = dup(0); break;
      case 5: f = fcntl(0, F_DUPFD, 100); break;
      case 6: if (counts) f = dup2(1, 30 + (int)(x >> 20 & 511)); break;
      default: if (counts) for (int n = 3; n < 900; n++) r += !close(n); break;
    }
    r += counts * (u32)(p[0] + p[1] * 3 + f * 5);
    if (x & 256) { if (f > 2) close(f); if (p[0]) { close(p[0]); close(p[1]); } }
  }
  return r;
}
"#;

/// A process that stops this one and lets it go on, a few times.
const STOPS: &str = r"#include <sys/wait.h>
#include <unistd.h>
static void stopped(int times, u32 after, u32 rest) {
  pid_t me = getpid();
  if (fork()) return;
  for (int i = 0; i < times; i++) {
    usleep(after);
    if (getppid() != me) break;
    kill(me, SIGSTOP);
    usleep(rest);
    kill(me, SIGCONT);
  }
  _exit(0);
}
";

impl Generator<'_> {
    /// The functions of this module that the program uses.
    pub(crate) fn system(&self) -> String {
        let mut text = String::new();
        if self.shape.forks {
            let call = match self.shape.cxx {
                true => "[&]() -> u64 { try { return (call); } catch (...) { return 5; } }()",
                false => "(jumps = 0, (call))",
            };
            text += &format!("#define TRY(call) {call}\n{FORKS}");
        }
        if self.shape.descriptors {
            text += DESCRIPTORS;
        }
        if self.shape.stops {
            text += STOPS;
        }
        text
    }
}
