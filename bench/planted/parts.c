// What programs take their time in (`work`), and what misleads (`lead`).
== work
static [[inline||__attribute__((noinline))]] uint64_t $work(uint64_t x, long rounds) {
[[  for (long i = 0; i < rounds; i++) x = x * 6364136223846793005u + 1442695040888963407u, x ^= x >> 29;
  return x;||  double y = (double)(x & 1023), z = 0.5;
  for (long i = 0; i < rounds; i++) y = y * z + 1.5;
  return (uint64_t)y + x;||  for (long i = 0; i < rounds; i++) x = (x >> 1) ^ (-(x & 1) & 0xd800000000000000u), x += (uint64_t)i * x;
  return x;||  uint64_t small[16] = {x};
  for (long i = 0; i < rounds; i++) {
    x = x * 31 + 7, x ^= x >> 11;
    if (i % 64 == 0) small[(x >> 3) & 15] += x;
  }
  return small[3];]]
}
== lead
static pthread_mutex_t $free_lock[MOST_THREADS] = {};
static uint64_t $free_sum[MOST_THREADS][8];
static void $lead(int t) {
  for (int i = 0; i < 6; i++) {
    pthread_mutex_lock(&$free_lock[t]);
    $free_sum[t][0] += (uint64_t)i;
    pthread_mutex_unlock(&$free_lock[t]);
  }
}
== lead
static pthread_mutex_t $brief = PTHREAD_MUTEX_INITIALIZER;
static uint64_t $brief_sum;
static void $lead(int t) {
  pthread_mutex_lock(&$brief);
  $brief_sum += (uint64_t)t;
  pthread_mutex_unlock(&$brief);
}
== lead
static uint64_t $small_table[256], $busy_sum[MOST_THREADS][8];
static __attribute__((noinline)) uint64_t $walk(uint64_t x) { return $small_table[x & 255] ^ (x * 31); }
static __attribute__((noinline)) uint64_t $walks(uint64_t x) {
  for (int i = 0; i < 40; i++) x = $walk(x + 1);
  return x;
}
static void $lead(int t) { $busy_sum[t][0] += $walks((uint64_t)t); }
== lead
static volatile char $last_byte[MOST_THREADS * 64];
static void $lead(int t) {
  char *text = (char *)malloc((size_t)(40 + t));
  snprintf(text, 40, "%d-%s", t, "record");
  $last_byte[t * 64] = text[1];
  free(text);
}
== lead
static pthread_rwlock_t $readers = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t $read_mostly[64], $seen[MOST_THREADS][8];
static void $lead(int t) {
  pthread_rwlock_rdlock(&$readers);
  for (int i = 0; i < 64; i++) $seen[t][0] += $read_mostly[i];
  pthread_rwlock_unlock(&$readers);
}
== lead
static uint64_t $ticks[MOST_THREADS][16];
static void $lead(int t) { __atomic_fetch_add(&$ticks[t][0], 1, __ATOMIC_RELAXED); }
