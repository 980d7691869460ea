/* ---- parallel loops: a pool of threads that wait for work, first spinning, then asleep

   A loop is divided into as many parts as there are threads. Each thread prefers its own part, so that it reuses the
   data in its cache. A thread that has finished takes the parts that are left, so a loop does not wait for a thread
   that is still asleep. `state` holds the number of the loop, and a bit for each part that is taken. */

enum { MOST_THREADS = 32, AWAKE = 2000, PATIENT = 20000 };
typedef struct { void *unused; int32_t tasks; } Group;
typedef int (*Body)(int, Group *, void *);

static struct {
  pthread_mutex_t lock, busy;
  pthread_cond_t wake;
  _Atomic uint64_t state;
  atomic_int left, failures, asleep, over;
  int threads, started;
  pthread_t thread[MOST_THREADS];
  Body body;
  void *data;
  int tasks;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .busy = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static inline uint32_t current_loop(void) { return (uint32_t)(atomic_load(&pool.state) >> 32); }

static void run_part(int part) {
  Group group = {NULL, pool.tasks};
  for (int task = part; task < pool.tasks; task += pool.threads)
    if (pool.body(task, &group, pool.data)) atomic_fetch_add(&pool.failures, 1);
  atomic_fetch_sub(&pool.left, 1);
}

/* Claims a part of a loop; returns 0 if another thread has it or the loop is over. */
static int claim(uint32_t loop, int part) {
  uint64_t state = atomic_load(&pool.state);
  do {
    if ((uint32_t)(state >> 32) != loop || state >> part & 1) return 0;
  } while (!atomic_compare_exchange_weak(&pool.state, &state, state | UINT64_C(1) << part));
  return 1;
}

static void run_parts(uint32_t loop, int first) {
  for (int k = 0; k < pool.threads; k++) {
    int part = (first + k) % pool.threads;
    if (claim(loop, part)) run_part(part);
  }
}

static inline void pause_a_little(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void *worker(void *argument) {
  uint32_t seen = 0;
  for (;;) {
    for (int k = 0; k < AWAKE && current_loop() == seen; k++) pause_a_little();
    if (current_loop() == seen) {
      pthread_mutex_lock(&pool.lock);
      atomic_fetch_add(&pool.asleep, 1);
      while (current_loop() == seen) pthread_cond_wait(&pool.wake, &pool.lock);
      atomic_fetch_sub(&pool.asleep, 1);
      pthread_mutex_unlock(&pool.lock);
    }
    seen = current_loop();
    if (atomic_load(&pool.over)) return NULL;
    run_parts(seen, (int)(intptr_t)argument);
  }
}

/* Publishes a new loop, and wakes sleeping threads. No wake-up is lost: a worker first counts itself as asleep and then
   reads `state` again, while this function first writes `state` and then reads `asleep`, so one sees the other. */
static void begin_loop(uint64_t parts) {
  atomic_store(&pool.state, (uint64_t)(current_loop() + 1) << 32 | parts);
  if (!atomic_load(&pool.asleep)) return;
  pthread_mutex_lock(&pool.lock);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
}

/* Ends the threads before the library is unloaded or the process exits. */
__attribute__((destructor)) static void end_pool(void) {
  pthread_mutex_lock(&pool.busy); /* never unlocked: later loops run in the calling thread */
  if (!pool.started) return;
  atomic_store(&pool.over, 1);
  begin_loop(UINT32_MAX);
  for (int k = 1; k < pool.threads; k++) pthread_join(pool.thread[k], NULL);
}

/* Resets the pool in a forked process, which has none of the threads and starts new ones. */
static void after_fork(void) {
  pthread_mutex_init(&pool.lock, NULL);
  pthread_mutex_init(&pool.busy, NULL);
  pthread_cond_init(&pool.wake, NULL);
  atomic_store(&pool.state, 0);
  atomic_store(&pool.left, 0);
  atomic_store(&pool.asleep, 0);
  pool.started = 0;
}

static void start_pool(void) {
  static int watched;
  if (!watched) watched = !pthread_atfork(NULL, NULL, after_fork);
  const char *wanted = getenv("TVM_NUM_THREADS");
  if (pool.threads == 0) {
    cpu_set_t allowed;
    int cores = sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : CPU_COUNT(&allowed);
    pool.threads = wanted && atoi(wanted) > 0 ? atoi(wanted) : cores;
  }
  if (pool.threads > MOST_THREADS) pool.threads = MOST_THREADS;
  for (int k = 1; k < pool.threads; k++)
    if (pthread_create(&pool.thread[k], NULL, worker, (void *)(intptr_t)k)) pool.threads = k;
  pool.started = 1;
}

static int parallel(Body body, void *data, int tasks) {
  if (pthread_mutex_trylock(&pool.busy)) { /* the pool is busy, or this is one of its threads */
    Group group = {NULL, tasks > 0 ? tasks : 1};
    int failures = 0;
    for (int task = 0; task < group.tasks; task++) failures += body(task, &group, data) != 0;
    return failures ? -1 : 0;
  }
  if (!pool.started) start_pool();
  pool.body = body;
  pool.data = data;
  pool.tasks = tasks > 0 ? tasks : pool.threads;
  atomic_store(&pool.failures, 0);
  atomic_store(&pool.left, pool.threads);
  begin_loop(1);
  run_part(0);
  run_parts(current_loop(), 1);
  for (int k = 0; atomic_load(&pool.left); k += k < PATIENT) k < PATIENT ? pause_a_little() : (void)sched_yield();
  int result = atomic_load(&pool.failures) ? -1 : 0;
  pthread_mutex_unlock(&pool.busy);
  return result;
}
