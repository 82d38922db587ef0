// Order that comes from the kernel, and accesses that the C library makes for the program, each beside a race:
// `kernel CASE racy|fixed`. The accesses of a case are in functions whose names begin with its name.
#define _GNU_SOURCE
#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

static int fixed;
long x, y;
static int fd[2];
char text[64] = "some text", copy[64];
static pthread_t first;

typedef void *(*body)(void *);

static void both(body a, body b) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, a, (void *)0);
  first = t[0];
  pthread_create(&t[1], NULL, b, (void *)1);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
}

// A writer that hands over x, before or (if racy) after it writes x.
#define HANDS_OVER(name, give, take)                                           \
  static void *name##_giver(void *n) {                                         \
    if (fixed) x = 1;                                                          \
    give;                                                                      \
    if (!fixed) x = 1;                                                         \
    return NULL;                                                               \
  }                                                                            \
  static void *name##_taker(void *n) {                                         \
    char c[8];                                                                 \
    (void)c;                                                                   \
    take;                                                                      \
    y = x;                                                                     \
    return NULL;                                                               \
  }

HANDS_OVER(through_pipe, write(fd[1], "a", 1), read(fd[0], c, 1))
HANDS_OVER(through_socketpair, send(fd[1], "a", 1, 0), recv(fd[0], c, 1, 0))
HANDS_OVER(through_messages, sendto(fd[0], "a", 1, 0, NULL, 0), recvfrom(fd[1], c, 1, 0, NULL, NULL))
HANDS_OVER(through_eventfd, eventfd_write(fd[0], 1), eventfd_read(fd[0], (eventfd_t *)c))
HANDS_OVER(end_of_file, close(fd[1]), read(fd[0], c, 1))
HANDS_OVER(through_vectors, writev(fd[1], &((struct iovec){"a", 1}), 1), readv(fd[0], &((struct iovec){c, 1}), 1))
HANDS_OVER(through_duplicate, int d = dup(fd[1]); write(d, "a", 1); close(d), read(fd[0], c, 1))
HANDS_OVER(through_shutdown, shutdown(fd[1], SHUT_WR), read(fd[0], c, 1))
static FILE *in, *out;
HANDS_OVER(through_stream, fputs("a\n", out); fflush(out), fgets(c, 8, in))
HANDS_OVER(through_formats, fprintf(out, "%d\n", 7); fflush(NULL), int i; fscanf(in, "%d", &i))
HANDS_OVER(through_closed_stream, fwrite("a", 1, 1, out); fclose(out), fread(c, 1, 8, in))
HANDS_OVER(through_queue, mq_send(fd[0], "a", 1, 0), mq_receive(fd[0], c, 8, NULL))
static struct message { long type; char text[1]; } message = {1, "a"};
HANDS_OVER(through_old_queue, msgsnd(fd[0], &message, 1, 0), struct message m; msgrcv(fd[0], &m, 1, 0, 0))
HANDS_OVER(by_semaphores, semop(fd[0], &((struct sembuf){0, 1, 0}), 1), semop(fd[0], &((struct sembuf){0, -1, 0}), 1))
HANDS_OVER(sets_semaphore, semctl(fd[0], 0, SETVAL, 1), semop(fd[0], &((struct sembuf){0, -1, 0}), 1))
HANDS_OVER(asks_semaphore, semctl(fd[0], 0, SETALL, (unsigned short[]){1}), while (semctl(fd[0], 0, GETVAL) == 0) usleep(200))
HANDS_OVER(through_signals, kill(getpid(), SIGUSR1), struct signalfd_siginfo got; read(fd[0], &got, sizeof got))
HANDS_OVER(polled_signals, kill(getpid(), SIGUSR1), poll(&((struct pollfd){fd[0], POLLIN}), 1, -1))
static void block_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  fd[0] = signalfd(-1, &set, 0);
}
static struct aiocb request;
static char byte[1];
static struct aiocb *start(int file, int (*how)(struct aiocb *)) {
  request.aio_fildes = file;
  request.aio_buf = byte;
  request.aio_nbytes = 1;
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  how(&request);
  return &request;
}
static int nothing(struct aiocb *r) { return 0; }
static atomic_int started;
// The flag orders nothing; that the request is done does.
static void await_request(void) {
  while (!atomic_load_explicit(&started, memory_order_relaxed)) usleep(200);
  while (aio_error(&request) == EINPROGRESS) usleep(200);
}
HANDS_OVER(written_beside, start(fd[1], aio_write), read(fd[0], c, 1))
HANDS_OVER(told_request, start(fd[1], aio_write); atomic_store_explicit(&started, 1, memory_order_relaxed), await_request())
HANDS_OVER(read_beside, write(fd[1], "a", 1), const struct aiocb *r = start(fd[0], aio_read); aio_suspend(&r, 1, NULL))
HANDS_OVER(listed_request, const struct aiocb *r = start(fd[1], nothing); request.aio_lio_opcode = LIO_WRITE; lio_listio(LIO_WAIT, (struct aiocb **)&r, 1, NULL), read(fd[0], c, 1))
HANDS_OVER(spliced, int p[2]; pipe(p); write(p[1], "a", 1); splice(p[0], NULL, fd[1], NULL, 1, 0), read(fd[0], c, 1))
HANDS_OVER(polled, eventfd_write(fd[0], 1), poll(&((struct pollfd){fd[0], POLLIN}), 1, -1))

static void *other_pipe_giver(void *n) {
  x = 1;
  write(fd[1], "a", 1);
  return NULL;
}
static void *other_pipe_taker(void *n) {
  char c;
  int other[2];
  if (!fixed) {
    pipe(other);
    write(other[1], "a", 1);
  }
  read(fixed ? fd[0] : other[0], &c, 1);
  y = x;
  return NULL;
}

// Two threads that read from one pipe each get a byte of their own; what they do later is not ordered.
static void *two_readers(void *n) {
  char c;
  read(fd[0], &c, 1);
  if (fixed) { if (c == 'a') x++; } else x++;
  return NULL;
}

static int listener;
static void *through_connection_giver(void *n) {
  struct sockaddr_in at;
  socklen_t size = sizeof at;
  getsockname(listener, (void *)&at, &size);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (fixed) x = 1;
  connect(s, (void *)&at, size);
  write(s, "a", 1);
  if (!fixed) x = 1;
  return NULL;
}
static void *through_connection_taker(void *n) {
  char c;
  read(accept(listener, NULL, NULL), &c, 1);
  y = x;
  return NULL;
}
static void through_connection(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (void *)&at, sizeof at);
  listen(listener, 1);
  both(through_connection_giver, through_connection_taker);
}

static void *by_epoll_giver(void *n) {
  if (fixed) x = 1;
  write(fd[1], "a", 1);
  if (!fixed) x = 1;
  return NULL;
}
static void *by_epoll_taker(void *n) {
  char c;
  struct epoll_event e = {.events = EPOLLIN};
  int set = epoll_create1(0);
  epoll_ctl(set, EPOLL_CTL_ADD, fd[0], &e);
  epoll_wait(set, &e, 1, -1);
  read(fd[0], &c, 1);
  y = x;
  return NULL;
}

// A byte that epoll or select tells of, and that nobody reads.
#define watch(set, what)                                                       \
  int set = epoll_create1(0);                                                  \
  epoll_ctl(set, EPOLL_CTL_ADD, fd[0], &(struct epoll_event){EPOLLIN, {.u64 = what}});
static int select_one(int file) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(file, &set);
  return select(file + 1, &set, NULL, NULL, NULL);
}
HANDS_OVER(told_by_epoll, write(fd[1], "a", 1), watch(set, 77) struct epoll_event e; epoll_wait(set, &e, 1, -1))
HANDS_OVER(told_by_select, write(fd[1], "a", 1), select_one(fd[0]))
HANDS_OVER(through_second_number, int d = dup(fd[0]); eventfd_write(d, 1), select_one(fd[0]); eventfd_read(fd[0], (eventfd_t *)c))
HANDS_OVER(through_control, int d = fcntl(fd[0], F_DUPFD, 20); eventfd_write(d, 1), select_one(fd[0]); eventfd_read(fd[0], (eventfd_t *)c))

// The order of a connection, through which nothing is sent.
static struct sockaddr_in address;
static void bound(void) {
  socklen_t size = sizeof address;
  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  fd[0] = socket(AF_INET, SOCK_STREAM, 0);
  bind(fd[0], (void *)&address, size);
  getsockname(fd[0], (void *)&address, &size);
}
static void connected(void) {
  int s = socket(AF_INET, SOCK_STREAM, 0);
  while (connect(s, (void *)&address, sizeof address) < 0) {
    close(s);
    usleep(200);
    s = socket(AF_INET, SOCK_STREAM, 0);
  }
}
HANDS_OVER(by_accepting, connected(), accept(fd[0], NULL, NULL))
HANDS_OVER(by_connecting, listen(fd[0], 1), connected())

static volatile sig_atomic_t handled;
static void sent_signal_handler(int signal) { y = x; handled = 1; }
static void *sent_signal_taker(void *n) {
  while (!handled) usleep(200);
  return NULL;
}
static void *sent_signal_giver(void *n) {
  if (fixed) x = 1;
  pthread_kill(first, SIGUSR1);
  if (!fixed) x = 1;
  return NULL;
}
static void sent_signal(void) {
  signal(SIGUSR1, sent_signal_handler);
  both(sent_signal_taker, sent_signal_giver);
}

static void to_process_handler(int signal) { y = x; handled = 1; }
static void *to_process_taker(void *n) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  while (!handled) usleep(200);
  return NULL;
}
static void *to_process_giver(void *n) {
  if (fixed) x = 1;
  kill(getpid(), SIGUSR1);
  if (!fixed) x = 1;
  return NULL;
}
static void to_process(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  signal(SIGUSR1, to_process_handler);
  both(to_process_taker, to_process_giver);
}

static void *waited_signal_taker(void *n) {
  sigset_t set;
  int got;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigwait(&set, &got);
  y = x;
  return NULL;
}
static void *waited_signal_giver(void *n) {
  if (fixed) x = 1;
  pthread_kill(first, SIGUSR1);
  if (!fixed) x = 1;
  return NULL;
}
static void waited_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  both(waited_signal_taker, waited_signal_giver);
}

// The handler is installed after the write, and a timer of the kernel sends the signal to the thread that waits.
static void installed_handler_handler(int signal) { y = x; handled = 1; }
static void *installed_handler_taker(void *n) {
  while (!handled) usleep(200);
  return NULL;
}
static void *installed_handler_giver(void *n) {
  struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (fixed) x = 1;
  signal(SIGALRM, installed_handler_handler);
  setitimer(ITIMER_REAL, &soon, NULL);
  if (!fixed) x = 1;
  return NULL;
}
static void installed_handler(void) {
  signal(SIGALRM, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_t t;
  pthread_create(&t, NULL, installed_handler_taker, NULL);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  installed_handler_giver(NULL);
  pthread_join(t, NULL);
}

// Memory that has the address of memory of another thread that is gone. Nothing orders the threads.
static long *shared;
static void *reused_mapping(void *n) {
  long *p = shared;
  if (fixed) {
    if (n) usleep(50000);
    p = mmap((void *)0x5a0000000000, 4096, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
  p[1] = (long)n;
  if (fixed) munmap(p, 4096);
  return NULL;
}
static void *reused_block(void *n) {
  long *p = shared;
  if (fixed) {
    if (n) usleep(50000);
    p = malloc(5000);
  }
  p[1] = (long)n;
  if (fixed) free(p);
  return NULL;
}

// One thread writes a text, the other has the C library read (or write) it.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define IN_CALL(name, call)                                                    \
  static void *name##_writer(void *n) {                                        \
    if (fixed) pthread_mutex_lock(&mutex);                                     \
    text[3] = '_';                                                             \
    if (fixed) pthread_mutex_unlock(&mutex);                                   \
    return NULL;                                                               \
  }                                                                            \
  static void *name##_caller(void *n) {                                        \
    if (fixed) pthread_mutex_lock(&mutex);                                     \
    call;                                                                      \
    if (fixed) pthread_mutex_unlock(&mutex);                                   \
    return NULL;                                                               \
  }
static volatile size_t sink;
static volatile size_t length = 8;
IN_CALL(copies, memcpy(copy, text, length))
IN_CALL(moves, memmove(copy, text, length))
IN_CALL(sets, memset(text, 0, length))
IN_CALL(compares, sink = memcmp(copy, text, length) + memcmp(text, text + 1, length))
IN_CALL(lengths, sink = strlen(text))
IN_CALL(copies_text, strcpy(copy, text))
IN_CALL(joins_text, copy[0] = 0; strcat(copy, text))
IN_CALL(compares_text, sink = strcmp("some text", text))
IN_CALL(finds, sink = (size_t)strchr(text, '\1'))
IN_CALL(finds_byte, sink = (size_t)memchr(text, '\1', length))
IN_CALL(duplicates, char *own = strdup(text); sink = (size_t)own; free(own))
IN_CALL(writes_out, write(fd[1], text, length))
IN_CALL(reads_in, read(fd[0], text, length))
IN_CALL(sends, send(fd[1], text, length, 0))
IN_CALL(receives, recv(fd[0], text, length, 0))
IN_CALL(prints, snprintf(copy, sizeof copy, "%s", text))
IN_CALL(prints_into, snprintf(text, sizeof text, "%ld", 123456789L))
IN_CALL(writes_file, FILE *f = fopen("/dev/null", "w"); fwrite(text, 1, length, f); fclose(f))
IN_CALL(reads_file, FILE *f = fopen("/dev/zero", "r"); fread(text, 1, length, f); fclose(f))
IN_CALL(parses_format, int into; sink = sscanf(text, "some%d", &into))
IN_CALL(takes_piece, char *next; sink = (size_t)strtok_r(text, "\1", &next))
IN_CALL(copies_wide, wmemcpy((wchar_t *)copy, (wchar_t *)text, length))
IN_CALL(parses, sink = strtol(text, NULL, 36))

int main(int argc, char **argv) {
  const char *name = argc > 2 ? argv[1] : "";
  fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
#define CASE(which, run) if (strcmp(name, #which) == 0) { run; return 0; }
#define TWO(which) both(which##_giver, which##_taker)
#define CALL(which) both(which##_writer, which##_caller)
  CASE(through_pipe, pipe(fd); TWO(through_pipe))
  CASE(through_socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, fd); TWO(through_socketpair))
  CASE(through_messages, socketpair(AF_UNIX, SOCK_DGRAM, 0, fd); TWO(through_messages))
  CASE(through_eventfd, fd[0] = eventfd(0, 0); TWO(through_eventfd))
  CASE(end_of_file, pipe(fd); TWO(end_of_file))
  CASE(through_vectors, pipe(fd); TWO(through_vectors))
  CASE(through_duplicate, pipe(fd); TWO(through_duplicate))
  CASE(through_shutdown, socketpair(AF_UNIX, SOCK_STREAM, 0, fd); TWO(through_shutdown))
  CASE(through_connection, through_connection())
#define STREAMS pipe(fd); in = fdopen(fd[0], "r"); out = fdopen(fd[1], "w")
  CASE(through_stream, STREAMS; TWO(through_stream))
  CASE(through_formats, STREAMS; TWO(through_formats))
  CASE(through_closed_stream, STREAMS; TWO(through_closed_stream))
  // A queue without a name of its own would be shared with other runs of this program.
#define QUEUE                                                                  \
  char q[32];                                                                  \
  sprintf(q, "/contech-%d", getpid());                                         \
  fd[0] = mq_open(q, O_CREAT | O_RDWR, 0600, &((struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 8}));  \
  mq_unlink(q)
  CASE(through_queue, QUEUE; TWO(through_queue))
  CASE(through_old_queue, fd[0] = msgget(IPC_PRIVATE, 0600); TWO(through_old_queue); msgctl(fd[0], IPC_RMID, NULL))
  CASE(by_semaphores, fd[0] = semget(IPC_PRIVATE, 1, 0600); TWO(by_semaphores); semctl(fd[0], 0, IPC_RMID))
  CASE(sets_semaphore, fd[0] = semget(IPC_PRIVATE, 1, 0600); TWO(sets_semaphore); semctl(fd[0], 0, IPC_RMID))
  CASE(asks_semaphore, fd[0] = semget(IPC_PRIVATE, 1, 0600); TWO(asks_semaphore); semctl(fd[0], 0, IPC_RMID))
  CASE(through_signals, block_signal(); TWO(through_signals))
  CASE(polled_signals, block_signal(); TWO(polled_signals))
  CASE(written_beside, pipe(fd); TWO(written_beside))
  CASE(told_request, pipe(fd); TWO(told_request))
  CASE(read_beside, pipe(fd); TWO(read_beside))
  CASE(listed_request, pipe(fd); TWO(listed_request))
  CASE(spliced, pipe(fd); TWO(spliced))
  CASE(polled, fd[0] = eventfd(0, 0); TWO(polled))
  CASE(by_epoll, pipe(fd); TWO(by_epoll))
  CASE(told_by_epoll, pipe(fd); TWO(told_by_epoll))
  CASE(told_by_select, pipe(fd); TWO(told_by_select))
  CASE(through_second_number, fd[0] = eventfd(0, 0); TWO(through_second_number))
  CASE(through_control, fd[0] = eventfd(0, 0); TWO(through_control))
  CASE(by_accepting, bound(); listen(fd[0], 1); TWO(by_accepting))
  CASE(by_connecting, bound(); TWO(by_connecting))
  CASE(other_pipe, pipe(fd); TWO(other_pipe))
  CASE(two_readers, pipe(fd); write(fd[1], "ab", 2); both(two_readers, two_readers))
  CASE(sent_signal, sent_signal())
  CASE(to_process, to_process())
  CASE(waited_signal, waited_signal())
  CASE(installed_handler, installed_handler())
  CASE(reused_mapping, shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); both(reused_mapping, reused_mapping))
  CASE(reused_block, mallopt(M_ARENA_MAX, 1); shared = malloc(5000); both(reused_block, reused_block))
  CASE(copies, CALL(copies))
  CASE(moves, CALL(moves))
  CASE(sets, CALL(sets))
  CASE(compares, CALL(compares))
  CASE(lengths, CALL(lengths))
  CASE(copies_text, CALL(copies_text))
  CASE(joins_text, CALL(joins_text))
  CASE(compares_text, CALL(compares_text))
  CASE(finds, CALL(finds))
  CASE(finds_byte, CALL(finds_byte))
  CASE(duplicates, CALL(duplicates))
  CASE(writes_out, pipe(fd); CALL(writes_out))
  CASE(reads_in, fd[0] = open("/dev/zero", O_RDONLY); CALL(reads_in))
  CASE(sends, socketpair(AF_UNIX, SOCK_STREAM, 0, fd); CALL(sends))
  CASE(receives, socketpair(AF_UNIX, SOCK_STREAM, 0, fd); write(fd[1], "ABCDEFGH", 8); CALL(receives))
  CASE(prints, CALL(prints))
  CASE(prints_into, CALL(prints_into))
  CASE(writes_file, CALL(writes_file))
  CASE(reads_file, CALL(reads_file))
  CASE(parses_format, CALL(parses_format))
  CASE(takes_piece, CALL(takes_piece))
  CASE(copies_wide, CALL(copies_wide))
  CASE(parses, CALL(parses))
  fprintf(stderr, "no case %s\n", name);
  return 2;
}
