// Races around atomics, C++'s library and the memory of threads, each beside the program without it:
// `atomics CASE racy|fixed`. The accesses of a case are in functions whose names begin with its name.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <semaphore>
#include <semaphore.h>
#include <shared_mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

static bool fixed;
long x, y, z[2];
static std::atomic<int> flag{0}, other{0}, count{2};
static std::mutex m1, m2;
static std::shared_mutex shared_m;
long *block;
using order = std::memory_order;
static constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release, acq_rel = order::acq_rel;

template <class A, class B> static void both(A a, B b) {
  std::thread one(a), two(b);
  one.join();
  two.join();
}
static void wait_for(std::atomic<int> &what, int value, order how) {
  while (what.load(how) != value) usleep(100);
}

static void fences_writer() {
  x = 1;
  if (fixed) std::atomic_thread_fence(release);
  flag.store(1, relaxed);
}
static void fences_reader() {
  wait_for(flag, 1, relaxed);
  if (fixed) std::atomic_thread_fence(acquire);
  y = x;
}

static void exchange_writer() {
  x = 1;
  int none = 0;
  flag.compare_exchange_strong(none, 1, fixed ? release : relaxed, relaxed);
}
static void exchange_reader() { wait_for(flag, 1, acquire); y = x; }

static void failed_exchange_reader() {
  int seen = 0;
  // A failed exchange has an order of its own.
  while (flag.compare_exchange_strong(seen, 0, acq_rel, fixed ? acquire : relaxed)) { seen = 0; usleep(100); }
  y = x;
}
static void failed_exchange_writer() { x = 1; flag.store(1, release); }

// A read-modify-write in between continues the release sequence; a store ends it.
static void sequence_writer() { x = 1; flag.store(1, release); }
static void sequence_between() {
  wait_for(flag, 1, relaxed);
  if (fixed) flag.fetch_add(1, relaxed); else flag.store(2, relaxed);
}
static void sequence_reader() { wait_for(flag, 2, relaxed); flag.load(acquire); y = x; }
static void sequence() {
  std::thread between(sequence_between);
  both(sequence_writer, sequence_reader);
  between.join();
}

static void counted(long n) {
  block[n] = n;
  if (count.fetch_sub(1, fixed ? acq_rel : relaxed) == 1) { y = block[0] + block[1]; }
}

static void spin_flag() {
  static std::atomic_flag lock;
  while (lock.test_and_set(fixed ? acquire : relaxed)) std::this_thread::yield();
  x++;
  lock.clear(fixed ? release : relaxed);
}

static void peterson(int me) {
  static std::atomic<int> wants[2], turn;
  order how = fixed ? order::seq_cst : relaxed;
  wants[me].store(1, how);
  turn.store(!me, how);
  while (wants[!me].load(how) && turn.load(how) == !me) std::this_thread::yield();
  x++;
  wants[me].store(0, how);
}

static void ring_producer() {
  for (int i = 0; i < 8; i++) {
    while (other.load(fixed ? acquire : relaxed) + 2 <= i) std::this_thread::yield();
    z[i & 1] = i;
    flag.store(i + 1, fixed ? release : relaxed);
  }
}
static void ring_consumer() {
  for (int i = 0; i < 8; i++) {
    while (flag.load(fixed ? acquire : relaxed) <= i) std::this_thread::yield();
    y += z[i & 1];
    other.store(i + 1, fixed ? release : relaxed);
  }
}

static void sequence_lock_writer() {
  flag.store(1, relaxed);
  std::atomic_thread_fence(release);
  if (fixed) other.store(5, relaxed); else x = 5;
  flag.store(2, release);
}
static void sequence_lock_reader() {
  int before = flag.load(fixed ? acquire : relaxed);
  y = fixed ? other.load(relaxed) : x;
  std::atomic_thread_fence(acquire);
  z[0] = before == flag.load(relaxed);
}

static void checked_twice() {
  static std::atomic<long *> made;
  static long *plain;
  long *seen = fixed ? made.load(acquire) : plain;
  if (!seen) {
    std::lock_guard held(m1);
    seen = fixed ? made.load(relaxed) : plain;
    if (!seen) {
      seen = new long(5);
      if (fixed) made.store(seen, release); else plain = seen;
    }
  }
}

static void initialised_static() {
  struct Thing { long v; Thing() : v(7) {} };
  static volatile long by_hand;
  if (fixed) { static Thing thing; Thing copy = thing; (void)copy; }
  else by_hand += 7;
}

static void reads_with_shared_lock(bool writes) {
  if (writes && fixed) { std::unique_lock held(shared_m); x++; return; }
  std::shared_lock held(shared_m);
  if (writes) x++; else z[0] = x;
}

static void unlocked_early(long) {
  std::unique_lock held(m1);
  if (!fixed) held.unlock();
  x++;
}

static void one_of_two() {
  if (fixed) { std::scoped_lock held(m1, m2); x++; }
  else { static std::atomic<int> turn; std::scoped_lock held(turn++ ? m1 : m2); x++; }
}

static void future_value() {
  auto done = std::async(std::launch::async, [] { x = 1; return 1; });
  if (fixed) done.get();
  y = x;
  if (!fixed) done.get();
}

static void promised_giver(std::promise<int> p) {
  if (fixed) x = 1;
  p.set_value(1);
  if (!fixed) x = 1;
}
static void promised() {
  std::promise<int> p;
  auto f = p.get_future();
  std::thread t(promised_giver, std::move(p));
  f.wait();
  y = x;
  t.join();
}

static void latched(int n) {
  static std::latch latch(2);
  if (!fixed) latch.arrive_and_wait();
  z[n] = 1;
  if (fixed) latch.arrive_and_wait();
  if (n) y = z[0];
}

static void phases(int n) {
  static std::barrier<> barrier(2);
  for (int i = 0; i < 3; i++) {
    z[n] = i;
    barrier.arrive_and_wait();
    block[n] = z[!n];
    if (fixed) barrier.arrive_and_wait();
  }
}

static void units(int n) {
  static std::counting_semaphore<2> s(1);
  if (n || fixed) s.acquire();
  x++;
  if (n || fixed) s.release();
}

static void posix_units(int n) {
  static sem_t s;
  static std::once_flag once;
  std::call_once(once, [] { sem_init(&s, 0, fixed ? 1 : 2); });
  sem_wait(&s);
  x++;
  sem_post(&s);
}

// Who sleeps is woken in order, whatever the order of the variable is, so the racy form writes after the wake.
static void notified_setter() {
  if (fixed) x = 1;
  flag.store(1, release);
  flag.notify_one();
  if (!fixed) x = 1;
}
static void notified_waiter() { flag.wait(0, acquire); y = x; }

static void condition_setter(std::condition_variable &c, bool &ready) {
  { std::lock_guard held(m1); if (fixed) x = 1; ready = true; }
  c.notify_one();
  if (!fixed) x = 1;
}
static void condition_waiter(std::condition_variable &c, bool &ready) {
  std::unique_lock held(m1);
  c.wait(held, [&] { return ready; });
  y = x;
}
static void condition() {
  std::condition_variable c;
  bool ready = false;
  both([&] { condition_setter(c, ready); }, [&] { condition_waiter(c, ready); });
}

static void appended() {
  static std::vector<int> v(1);
  std::unique_lock held(m1, std::defer_lock);
  if (fixed) held.lock();
  v.back() = 1;
  if (fixed) v.push_back(1);
}

struct destroyed_base { long v = 0; virtual ~destroyed_base() { v = 1; } virtual void call() { y = v; } };
struct destroyed_derived : destroyed_base { void call() override { y = 1; } };
static void destroyed() {
  destroyed_base *it = new destroyed_derived;
  auto destroyed_use = [=] { it->call(); };
  std::thread t(destroyed_use);
  if (fixed) t.join();
  it->~destroyed_base();
  if (!fixed) t.join();
}

static void shared_pointer() {
  auto p = std::make_shared<long>(1);
  auto shared_pointer_use = [](std::shared_ptr<long> q) { if (fixed) (void)*(volatile long *)q.get(); else ++*q; };
  auto q = p;
  // The counts order nothing before the uses.
  std::thread a(shared_pointer_use, std::move(p)), b(shared_pointer_use, std::move(q));
  a.join();
  b.join();
}

static void lambda_by_reference() {
  std::vector<std::thread> all;
  for (int i = 0; i < 2; i++) {
    static volatile int kept[2];
    if (fixed) all.emplace_back([i] { kept[i] = i; });
    else all.emplace_back([&] { kept[0] = 1; });
  }
  for (auto &t : all) t.join();
}

static long *thread_local_pointer;
static void thread_local_escapes_owner() {
  static thread_local long own = 1;
  thread_local_pointer = fixed ? new long(1) : &own;
  flag.store(1);
  if (!fixed) own++;
  wait_for(other, 1, acquire);
}
static void thread_local_escapes_user() {
  wait_for(flag, 1, acquire);
  ++*thread_local_pointer;
  other.store(1);
}

static void stack_escapes_body(long *of_creator) { ++*of_creator; }
static void stack_escapes() {
  long local = 0;
  std::thread t(stack_escapes_body, &local);
  if (fixed) t.join();
  local++;
  if (!fixed) t.join();
}

static void moved_memory() {
  for (int i = 0; i < 64; i++) {
    long *own = new long[8];
    (fixed ? own : block)[i & 1] = i;
    delete[] own;
  }
}

static void mapped_again() {
  for (int i = 0; i < 8; i++) {
    long *own = (long *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (fixed ? own : block)[0] = i;
    munmap(own, 4096);
  }
}

static pthread_key_t key;
static void at_thread_end_destructor(void *) { x = 1; }
static void *at_thread_end_body(void *) { pthread_setspecific(key, &x); return nullptr; }
static void at_thread_end() {
  pthread_t t;
  pthread_key_create(&key, at_thread_end_destructor);
  pthread_create(&t, nullptr, at_thread_end_body, nullptr);
  if (fixed) pthread_join(t, nullptr);
  y = x;
  if (!fixed) pthread_join(t, nullptr);
}

static void tried(int n) {
  bool taken = m1.try_lock();
  while (fixed && !taken) { std::this_thread::yield(); taken = m1.try_lock(); }
  // Whoever does not look at the result goes on without the lock.
  static std::atomic<int> inside;
  if (!fixed) { inside++; for (int i = 0; inside < 2 && i < 1000; i++) usleep(100); }
  x += n;
  if (taken) m1.unlock();
}

static void string_shared(std::string *s) {
  if (fixed) std::string own(*s);
  else (*s)[0] = 'x';
}

static void plain_beside_atomic(bool writes) {
  static long v;
  if (writes) std::atomic_ref(v)++;
  else if (fixed) y = std::atomic_ref(v).load();
  else y = v;
}

static void loaded_by_guard(bool mine) {
  long got = 0;
  for (int i = 0; i < 8; i++) got += mine ? x : i;
  if (!fixed) got += *(volatile long *)&x;
  if (mine) x = 1;
  z[mine] = got;
}

int main(int argc, char **argv) {
  const char *name = argc > 2 ? argv[1] : "";
  fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
  block = new long[8]();
  std::string text = "a text that is too long to be kept inside of the string";
#define CASE(which, run) if (strcmp(name, #which) == 0) { run; return 0; }
#define TWO(which) both([] { which(0); }, [] { which(1); })
  CASE(fences, both(fences_writer, fences_reader))
  CASE(exchange, both(exchange_writer, exchange_reader))
  CASE(failed_exchange, both(failed_exchange_writer, failed_exchange_reader))
  CASE(sequence, sequence())
  CASE(counted, TWO(counted))
  CASE(spin_flag, both(spin_flag, spin_flag))
  CASE(peterson, TWO(peterson))
  CASE(ring, both(ring_producer, ring_consumer))
  CASE(sequence_lock, both(sequence_lock_reader, sequence_lock_writer))
  CASE(checked_twice, both(checked_twice, checked_twice))
  CASE(initialised_static, both(initialised_static, initialised_static))
  CASE(reads_with_shared_lock, TWO(reads_with_shared_lock))
  CASE(unlocked_early, TWO(unlocked_early))
  CASE(one_of_two, both(one_of_two, one_of_two))
  CASE(future_value, future_value())
  CASE(promised, promised())
  CASE(latched, TWO(latched))
  CASE(phases, TWO(phases))
  CASE(units, TWO(units))
  CASE(posix_units, TWO(posix_units))
  CASE(notified, both(notified_setter, notified_waiter))
  CASE(condition, condition())
  CASE(appended, both(appended, appended))
  CASE(destroyed, destroyed())
  CASE(shared_pointer, shared_pointer())
  CASE(lambda_by_reference, lambda_by_reference())
  CASE(thread_local_escapes, both(thread_local_escapes_owner, thread_local_escapes_user))
  CASE(stack_escapes, stack_escapes())
  CASE(moved_memory, both(moved_memory, moved_memory))
  CASE(mapped_again, both(mapped_again, mapped_again))
  CASE(at_thread_end, at_thread_end())
  CASE(tried, TWO(tried))
  CASE(string_shared, both([&] { string_shared(&text); }, [&] { string_shared(&text); }))
  CASE(plain_beside_atomic, TWO(plain_beside_atomic))
  CASE(loaded_by_guard, TWO(loaded_by_guard))
  fprintf(stderr, "no case %s\n", name);
  return 2;
}
