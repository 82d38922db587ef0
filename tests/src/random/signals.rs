//! Handlers that lock, post and count, and that other signals interrupt.

/// A raised signal raises the next one while its handler may hold the lock. What handlers do to the
/// printed state is the same in every run. The handlers of timers run at any time and touch only
/// state that is not printed.
pub(crate) const HANDLERS: &str = r"static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER, tick_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t handler_told; static u32 handler_count; static volatile u32 ticks[64];
static void on_signal(int n) {
  grid[n & 15][3] += n;
  int mine = !pthread_mutex_trylock(&handler_lock);
  if (n != 23) raise(n == 10 ? 12 : 23);
  grid[n & 15][4] ^= (u32)acc;
  if (mine) pthread_mutex_unlock(&handler_lock);
  __atomic_fetch_add(&handler_count, 1, 5);
  sem_post(&handler_told);
}
static void on_tick(int n) {
  for (int i = 0; i < n; i++) ticks[i & 63] += i;
  if (!pthread_mutex_trylock(&tick_lock)) {
    ticks[0] ^= 1;
    pthread_mutex_unlock(&tick_lock);
  }
  __atomic_fetch_add(&handler_count, 1, 5);
  if (n == 14) sem_post(&handler_told); else sem_trywait(&handler_told);
}
static void install(int n, void (*f)(int)) {
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = f;
  how.sa_flags = SA_RESTART;
  sigaction(n, &how, 0);
}
";
