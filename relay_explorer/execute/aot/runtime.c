/* What every program that was compiled ahead of time stands on: values and their memory, calls, kernels.

   A value is counted: whoever holds it counts for one, and when nobody does, its memory is used again. Registers
   of functions lie on a stack of this machine, not on C's: a recursion is as deep as the memory is large. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The interface is what a library shows of itself. */
#define API __attribute__((visibility("default")))

/* ---- what kernels take: tensors as DLPack has them, in arguments as TVM passes them */

typedef struct { int32_t kind, number; } Device;
typedef struct { uint8_t code, bits; uint16_t lanes; } Type;
typedef struct {
  void *data;
  Device device;
  int32_t rank;
  Type type;
  const int64_t *shape, *strides;
  uint64_t offset;
} Tensor;
typedef struct { int32_t kind; uint32_t zero; const Tensor *tensor; } Argument;
typedef int (*Kernel)(void *, const Argument *, int32_t, Argument *);

/* ---- values */

enum { TENSOR, STORAGE, FIELDS, CLOSURE, CELL }; /* kinds */
enum { ALIGNMENT = 64, FOREVER = -1 };

typedef struct Object Object;
struct Object {
  int32_t uses;  /* how many hold it; FOREVER: it is part of the program */
  uint8_t kind;
  uint8_t size;  /* which of the sizes of memory it has */
  uint16_t tag;  /* of FIELDS the constructor, of a CLOSURE the function */
  uint32_t count; /* of FIELDS, a CLOSURE, a CELL: how many values follow */
  uint32_t mark;  /* while a value is written out: its number */
  Object *next;   /* while it is freed, and then: the next one */
};
typedef struct { Object head; Tensor array; Object *storage; int64_t sizes[]; } TensorObject;
typedef struct { Object head; Object *part[]; } Parts;

#define TENSOR_OF(object) (&((TensorObject *)(object))->array)
#define PART(object, k) (((Parts *)(object))->part[k])

/* ---- the machine */

enum { SMALL = 64, SIZES = SMALL + 4 * 40, CHUNK = 1 << 18 };

typedef struct Machine Machine;
typedef int (*Code)(Machine *, Object **, int); /* registers, and where to go on; not 0: it failed */
typedef struct { Code code; int32_t at; uint32_t count; size_t base; } Frame;
typedef struct { Code code; uint32_t registers, arguments; const char *name; } Function;

struct Machine {
  Object **stack;
  size_t stack_size;
  Frame *frames;
  size_t depth, most_frames;
  Object *result; /* of the function that has returned */
  Object *held;   /* the result of the last run, while it is read */
  Argument nothing;
  Object *free[SIZES];
  char *chunk;
  size_t chunk_left;
  void **blocks; /* all memory that the system gave */
  size_t block_count, most_blocks;
  int64_t live; /* values that somebody holds */
  int64_t memory; /* bytes that the system gave */
  char error[1000];
};

static int failed(Machine *m, const char *text, ...) {
  va_list rest;
  va_start(rest, text);
  vsnprintf(m->error, sizeof m->error, text, rest);
  va_end(rest);
  return 1;
}

/* ---- memory: multiples of 64 bytes up to 4096, then four sizes from each power of two to the next */

static unsigned size_of(size_t bytes, size_t *rounded) {
  if (bytes <= SMALL * (size_t)ALIGNMENT) {
    unsigned number = bytes ? (unsigned)((bytes - 1) / ALIGNMENT) : 0;
    *rounded = (number + 1) * (size_t)ALIGNMENT;
    return number;
  }
  unsigned log = 63 - (unsigned)__builtin_clzll((unsigned long long)(bytes - 1));
  size_t step = (size_t)1 << (log - 2);
  size_t part = (bytes - 1) / step - 3; /* 1 to 4 */
  *rounded = (part + 3 + 1) * step;
  return SMALL + 4 * (log - 12) + (unsigned)part;
}

static char *block(Machine *m, size_t bytes) {
  if (m->block_count == m->most_blocks) {
    size_t more = m->most_blocks ? 2 * m->most_blocks : 16;
    void **grown = realloc(m->blocks, more * sizeof *grown);
    if (!grown) return NULL;
    m->blocks = grown;
    m->most_blocks = more;
  }
  char *made = aligned_alloc(ALIGNMENT, bytes);
  if (!made) return NULL;
  m->blocks[m->block_count++] = made;
  m->memory += (int64_t)bytes;
  return made;
}

static Object *no_memory(Machine *m, size_t bytes) {
  failed(m, "there is no memory for %zu bytes more", bytes);
  return NULL;
}

static Object *object(Machine *m, size_t bytes, int kind, uint32_t count) {
  size_t rounded;
  if (bytes > (size_t)1 << 50) return no_memory(m, bytes);
  unsigned size = size_of(bytes, &rounded);
  Object *made = m->free[size];
  if (made) {
    m->free[size] = made->next;
  } else if (rounded > CHUNK / 8) {
    made = (Object *)block(m, rounded);
  } else {
    if (m->chunk_left < rounded) {
      char *chunk = block(m, CHUNK);
      if (!chunk) return no_memory(m, bytes);
      m->chunk = chunk;
      m->chunk_left = CHUNK;
    }
    made = (Object *)m->chunk;
    m->chunk += rounded;
    m->chunk_left -= rounded;
  }
  if (!made) return no_memory(m, bytes);
  m->live++;
  made->uses = 1;
  made->kind = (uint8_t)kind;
  made->size = (uint8_t)size;
  made->tag = 0;
  made->count = count;
  made->mark = 0;
  return made;
}

static inline Object *keep(Object *value) {
  if (value->uses > 0) value->uses++;
  return value;
}

/* Frees a value that nobody holds, and what only it held, however deep. */
static void destroy(Machine *m, Object *value) {
  value->next = NULL;
  while (value) {
    Object *next = value->next;
    Object **parts = &PART(value, 0);
    uint32_t count = value->count;
    if (value->kind == TENSOR) {
      parts = &((TensorObject *)value)->storage;
      count = *parts != NULL;
    }
    for (uint32_t k = 0; k < count; k++)
      if (parts[k] && parts[k]->uses > 0 && --parts[k]->uses == 0) {
        parts[k]->next = next;
        next = parts[k];
      }
    value->next = m->free[value->size];
    m->free[value->size] = value;
    m->live--;
    value = next;
  }
}

static inline void drop(Machine *m, Object *value) {
  if (value && value->uses > 0 && --value->uses == 0) destroy(m, value);
}

/* Empties a register. */
static inline void clear(Machine *m, Object **at) {
  Object *value = *at;
  *at = NULL;
  drop(m, value);
}

static inline Object *take(Object **at) {
  Object *value = *at;
  *at = NULL;
  return value;
}

/* ---- making values */

static inline Object *parts(Machine *m, int kind, unsigned tag, uint32_t count) {
  Object *made = object(m, sizeof(Parts) + count * sizeof(Object *), kind, count);
  if (made) made->tag = (uint16_t)tag;
  return made;
}

static inline Object *storage(Machine *m, size_t bytes) {
  return object(m, ALIGNMENT + bytes, STORAGE, 0);
}

/* A tensor at the beginning of a storage, which it holds; its shape is kept elsewhere. */
static Object *tensor_in(Machine *m, Object *in, Type type, int32_t rank, const int64_t *shape) {
  TensorObject *made = (TensorObject *)object(m, sizeof(TensorObject), TENSOR, 0);
  if (!made) return NULL;
  made->array = (Tensor){(char *)in + ALIGNMENT, {1, 0}, rank, type, shape, NULL, 0};
  made->storage = keep(in);
  return &made->head;
}

static size_t bytes_of(Type type, int32_t rank, const int64_t *shape) {
  size_t bytes = (type.bits + 7u) / 8;
  for (int32_t k = 0; k < rank; k++)
    if (shape[k] < 0 || __builtin_mul_overflow(bytes, (size_t)shape[k], &bytes)) return SIZE_MAX;
  return bytes;
}

/* A tensor in memory of its own, with its shape; `data` are its elements, if they need not be copied. */
static Object *tensor_of(Machine *m, Type type, int32_t rank, const int64_t *shape, void *data) {
  TensorObject *made =
      (TensorObject *)object(m, sizeof(TensorObject) + (size_t)rank * sizeof(int64_t), TENSOR, 0);
  if (!made) return NULL;
  memcpy(made->sizes, shape, (size_t)rank * sizeof(int64_t));
  made->array = (Tensor){data, {1, 0}, rank, type, made->sizes, NULL, 0};
  made->storage = NULL;
  if (!data) {
    size_t bytes = bytes_of(type, rank, shape);
    made->storage = bytes == SIZE_MAX ? no_memory(m, bytes) : storage(m, bytes);
    if (!made->storage) {
      drop(m, &made->head);
      return NULL;
    }
    made->array.data = (char *)made->storage + ALIGNMENT;
  }
  return &made->head;
}

/* The elements of a tensor under another shape. */
static Object *reshaped(Machine *m, Object *source, int32_t rank, const int64_t *shape) {
  TensorObject *made = (TensorObject *)object(m, sizeof(TensorObject), TENSOR, 0);
  if (!made) return NULL;
  made->array = *TENSOR_OF(source);
  made->array.rank = rank;
  made->array.shape = shape;
  /* What has no storage of its own is part of the program or of the caller, and stays. */
  made->storage = ((TensorObject *)source)->storage;
  if (made->storage) keep(made->storage);
  return &made->head;
}

/* ---- calls */

enum { MOST_REGISTERS = 1 << 27, MOST_FRAMES = 1 << 23 };

static int too_deep(Machine *m) {
  return failed(m, "the recursion is too deep: %zu calls that have not returned\nhelp: does it end? A loop that "
                   "returns the call itself needs no stack", m->depth);
}

static int more_frames(Machine *m) {
  size_t more = m->most_frames ? 2 * m->most_frames : 64;
  Frame *grown = more > MOST_FRAMES ? NULL : realloc(m->frames, more * sizeof *grown);
  if (!grown) return too_deep(m);
  m->frames = grown;
  m->most_frames = more;
  return 0;
}

static int more_stack(Machine *m, size_t wanted) {
  size_t more = m->stack_size ? m->stack_size : 1024;
  while (more < wanted) more *= 2;
  Object **grown = more > MOST_REGISTERS ? NULL : realloc(m->stack, more * sizeof *grown);
  if (!grown) return too_deep(m);
  m->stack = grown;
  m->stack_size = more;
  return 0;
}

/* The registers of a new call, all empty; the caller's may have moved. NULL: it is too deep. */
static Object **enter(Machine *m, const Function *callee) {
  if (m->depth == m->most_frames && more_frames(m)) return NULL;
  size_t base = 0;
  if (m->depth) base = m->frames[m->depth - 1].base + m->frames[m->depth - 1].count;
  if (base + callee->registers > m->stack_size && more_stack(m, base + callee->registers)) return NULL;
  m->frames[m->depth++] = (Frame){callee->code, 0, callee->registers, base};
  memset(m->stack + base, 0, callee->registers * sizeof(Object *));
  return m->stack + base;
}

/* The registers of a call that takes the place of the topmost, whose registers are all empty. */
static Object **replace(Machine *m, const Function *callee) {
  Frame *frame = &m->frames[m->depth - 1];
  if (frame->base + callee->registers > m->stack_size && more_stack(m, frame->base + callee->registers))
    return NULL;
  frame->code = callee->code;
  frame->at = 0;
  if (callee->registers > frame->count)
    memset(m->stack + frame->base + frame->count, 0, (callee->registers - frame->count) * sizeof(Object *));
  frame->count = callee->registers;
  return m->stack + frame->base;
}

static inline Object **registers(Machine *m, size_t back) { return m->stack + m->frames[m->depth - back].base; }

static inline int returned(Machine *m, Object *value) {
  m->result = value;
  m->depth--;
  return 0;
}

static int run(Machine *m) {
  while (m->depth) {
    Frame *frame = &m->frames[m->depth - 1];
    if (frame->code(m, m->stack + frame->base, frame->at)) {
      for (; m->depth; m->depth--) {
        frame = &m->frames[m->depth - 1];
        for (uint32_t k = 0; k < frame->count; k++) clear(m, &m->stack[frame->base + k]);
      }
      return 1;
    }
  }
  return 0;
}

/* ---- kernels */

static _Thread_local char raised[800]; /* what the last kernel that failed said */

__attribute__((visibility("hidden"))) void TVMFFIErrorSetRaisedFromCStrParts(
    const char *kind, const char **text, int32_t count) {
  size_t length = (size_t)snprintf(raised, sizeof raised, "%s: ", kind);
  for (int32_t k = 0; k < count && length < sizeof raised; k++)
    if (text[k]) length += (size_t)snprintf(raised + length, sizeof raised - length, "%s", text[k]);
}

static int kernel_failed(Machine *m, const char *name) {
  return failed(m, "the kernel `%s` failed: %s", name, raised);
}

static void *workspace(int32_t kind, int32_t number, uint64_t bytes, int32_t code, int32_t bits) {
  (void)kind, (void)number, (void)code, (void)bits;
  return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT);
}

static int free_workspace(int32_t kind, int32_t number, void *memory) {
  (void)kind, (void)number;
  free(memory);
  return 0;
}

/* ---- rows from start to stop by step, whose length is known when they are made */

static double number_of(const Object *value) {
  const Tensor *array = TENSOR_OF(value);
  return array->type.bits == 32 ? *(const float *)array->data : *(const double *)array->data;
}

static int64_t whole_of(const Object *value) {
  const Tensor *array = TENSOR_OF(value);
  return array->type.bits == 32 ? *(const int32_t *)array->data : *(const int64_t *)array->data;
}

static Object *row(Machine *m, Type type, double steps) {
  if (steps != steps || steps > 1e15) {
    failed(m, "a row by steps of 0 never ends");
    return NULL;
  }
  int64_t length = steps > 0 ? (int64_t)steps : 0;
  return tensor_of(m, type, 1, &length, NULL);
}

static Object *row_of_numbers(Machine *m, Type type, double start, double stop, double step) {
  double steps = (stop - start) / step;
  Object *made = row(m, type, step ? steps > (double)(int64_t)steps ? (double)(int64_t)steps + 1 : steps : 1e16);
  for (int64_t k = 0; made && k < TENSOR_OF(made)->shape[0]; k++) {
    if (type.bits == 32)
      ((float *)TENSOR_OF(made)->data)[k] = (float)start + (float)((float)k * (float)step);
    else
      ((double *)TENSOR_OF(made)->data)[k] = start + (double)k * step;
  }
  return made;
}

static Object *row_of_wholes(Machine *m, Type type, int64_t start, int64_t stop, int64_t step) {
  int64_t way = step > 0 ? stop - start : start - stop, by = step > 0 ? step : -step;
  Object *made = row(m, type, by ? (double)(way > 0 ? (way - 1) / by + 1 : 0) : 1e16);
  for (int64_t k = 0; made && k < TENSOR_OF(made)->shape[0]; k++) {
    if (type.bits == 32)
      ((int32_t *)TENSOR_OF(made)->data)[k] = (int32_t)(start + k * step);
    else
      ((int64_t *)TENSOR_OF(made)->data)[k] = start + k * step;
  }
  return made;
}

/* ---- loops that run on several cores: threads that wait for work, a little while awake, then asleep

   The work of a loop is cut into as many parts as there are threads. Each thread takes its own part, so that
   what it has in its cache is used again, but nobody waits for a thread that is still asleep: whoever is done
   takes the parts that are left. `state` is the number of the loop, and a bit for each part that is taken. */

enum { MOST_THREADS = 32, AWAKE = 2000, PATIENT = 20000 };
typedef struct { void *unused; int32_t tasks; } Group;
typedef int (*Body)(int, Group *, void *);

static struct {
  pthread_mutex_t lock, busy;
  pthread_cond_t wake;
  _Atomic uint64_t state;
  atomic_int left, failures, asleep;
  int threads, started;
  Body body;
  void *data;
  int tasks;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .busy = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static inline uint32_t current_loop(void) { return (uint32_t)(atomic_load(&pool.state) >> 32); }

static void do_part(int part) {
  Group group = {NULL, pool.tasks};
  for (int task = part; task < pool.tasks; task += pool.threads)
    if (pool.body(task, &group, pool.data)) atomic_fetch_add(&pool.failures, 1);
  atomic_fetch_sub(&pool.left, 1);
}

/* Takes a part of a loop, unless somebody has it, or the loop is over. */
static int taken(uint32_t loop, int part) {
  uint64_t state = atomic_load(&pool.state);
  do {
    if ((uint32_t)(state >> 32) != loop || state >> part & 1) return 0;
  } while (!atomic_compare_exchange_weak(&pool.state, &state, state | UINT64_C(1) << part));
  return 1;
}

static void do_parts(uint32_t loop, int first) {
  for (int k = 0; k < pool.threads; k++) {
    int part = (first + k) % pool.threads;
    if (taken(loop, part)) do_part(part);
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
    do_parts(seen, (int)(intptr_t)argument);
  }
  return NULL;
}

/* A forked process has none of the threads, and starts others. */
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
  for (int k = 1; k < pool.threads; k++) {
    pthread_t made;
    if (pthread_create(&made, NULL, worker, (void *)(intptr_t)k)) {
      pool.threads = k;
      break;
    }
    pthread_detach(made);
  }
  pool.started = 1;
}

static int parallel(Body body, void *data, int tasks) {
  if (pthread_mutex_trylock(&pool.busy)) { /* another machine has the threads, or this is one of them */
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
  uint32_t loop = current_loop() + 1;
  atomic_store(&pool.state, (uint64_t)loop << 32 | 1);
  /* Who falls asleep says so first, and then looks at the state again: one of the two sees the other. */
  if (pool.threads > 1 && atomic_load(&pool.asleep)) {
    pthread_mutex_lock(&pool.lock);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
  }
  do_part(0);
  do_parts(loop, 1);
  for (int k = 0; atomic_load(&pool.left); k += k < PATIENT) k < PATIENT ? pause_a_little() : (void)sched_yield();
  int result = atomic_load(&pool.failures) ? -1 : 0;
  pthread_mutex_unlock(&pool.busy);
  return result;
}

/* TVM's kernels call these through pointers of these names. */
#define FOR_KERNELS __attribute__((visibility("hidden"))) void *
FOR_KERNELS __TVMBackendParallelLaunch = (void *)parallel;
FOR_KERNELS __TVMBackendAllocWorkspace = (void *)workspace;
FOR_KERNELS __TVMBackendFreeWorkspace = (void *)free_workspace;

#define ARGUMENT(object) ((Argument){7, 0, TENSOR_OF(object)})

/* ---- values in and out, as a list of numbers; a value is written before its parts

     0 code bits rank data shape…            a tensor whose elements lie at an address; in, they are not copied
     1 kind tag count                        FIELDS or a CELL of the next `count` values
     2 k                                     number k of those again
     3                                       out: a closure
     4 code bits rank bytes shape… elements… a tensor with its elements, in whole numbers of 8 bytes

   Out, what is large is at an address. */

enum { INLINE = 1 << 16 }; /* bytes of the elements of a tensor that is written out whole */

typedef struct { Object *whole; uint32_t next; } Open; /* a value, and which of its parts comes next */

static Object *read_tensor(Machine *m, const int64_t *item, int64_t *at) {
  Type type = {(uint8_t)item[1], (uint8_t)item[2], 1};
  int32_t rank = (int32_t)item[3];
  const int64_t *shape = item + 5;
  *at += 5 + rank;
  if (item[0] == 0) return tensor_of(m, type, rank, shape, (void *)(intptr_t)item[4]);
  Object *value = tensor_of(m, type, rank, shape, NULL);
  if (value) memcpy(TENSOR_OF(value)->data, shape + rank, (size_t)item[4]);
  *at += (item[4] + 7) / 8;
  return value;
}

/* Reads `wanted` values; where that fails, none is left. */
static int read_values(Machine *m, const int64_t *code, int64_t length, Object **results, int64_t wanted) {
  Object *some[64];
  Open few[64];
  size_t most = (size_t)length / 4 + 1, open = 0;
  Object **made = most > 64 ? malloc(most * sizeof *made) : some;
  Open *waiting = most > 64 ? malloc(most * sizeof *waiting) : few;
  int64_t count = 0, done = 0, problem = !made || !waiting;
  if (problem) failed(m, "there is no memory for the arguments");
  for (int64_t at = 0; at < length && !problem;) {
    const int64_t *item = code + at;
    Object *value = NULL;
    int opens = 0;
    if (item[0] == 1) {
      value = parts(m, (int)item[1], (unsigned)item[2], (uint32_t)item[3]);
      if (value) {
        memset(&PART(value, 0), 0, (size_t)item[3] * sizeof(Object *));
        value->mark = opens = item[3] > 0;
        made[count++] = value;
      }
      at += 4;
    } else if (item[0] == 2) {
      if (made[item[1]]->mark)
        failed(m, "an argument holds a cell that leads back to itself; a native program takes none");
      else
        value = keep(made[item[1]]);
      at += 2;
    } else {
      value = read_tensor(m, item, &at);
    }
    problem = !value;
    if (problem) break;
    if (open)
      PART(waiting[open - 1].whole, waiting[open - 1].next++) = value;
    else
      results[done++] = value;
    if (opens) waiting[open++] = (Open){value, 0};
    for (; open && waiting[open - 1].next == waiting[open - 1].whole->count; open--) waiting[open - 1].whole->mark = 0;
  }
  if (problem)
    while (done) drop(m, results[--done]);
  if (made != some) free(made);
  if (waiting != few) free(waiting);
  (void)wanted;
  return problem != 0;
}

/* How many numbers a value is, of which at most `room` are written; -1: there is no memory. `lent`: whether
   elements lie at an address, so that the value must live until they are read. */
static int64_t write_value(Object *value, int64_t *to, int64_t room, int *lent) {
  size_t size = 64, top = 0, marked = 0, most_marked = 64;
  Object *some[64], *few[64];
  Object **stack = some, **seen = few;
  int64_t at = 0;
  *lent = 0;
  stack[top++] = value;
  while (top) {
    Object *item = stack[--top];
    int64_t head[5], count = 0, words = 0;
    const Tensor *array = NULL;
    if (item->kind == TENSOR) {
      array = TENSOR_OF(item);
      size_t bytes = bytes_of(array->type, array->rank, array->shape);
      int whole = bytes <= INLINE;
      words = whole ? (int64_t)(bytes + 7) / 8 : 0;
      *lent |= !whole;
      head[count++] = whole ? 4 : 0, head[count++] = array->type.code, head[count++] = array->type.bits;
      head[count++] = array->rank, head[count++] = whole ? (int64_t)bytes : (int64_t)(intptr_t)array->data;
    } else if (item->mark) {
      head[count++] = 2, head[count++] = item->mark - 1;
    } else if (item->kind == CLOSURE) {
      head[count++] = 3;
    } else {
      head[count++] = 1, head[count++] = item->kind, head[count++] = item->tag, head[count++] = item->count;
      if (marked == most_marked || top + item->count > size) {
        size_t marks = most_marked * (marked == most_marked ? 2 : 1), more = size;
        while (top + item->count > more) more *= 2;
        Object **wider = realloc(seen == few ? NULL : seen, marks * sizeof *seen);
        Object **deeper = realloc(stack == some ? NULL : stack, more * sizeof *stack);
        if (wider && seen == few) memcpy(wider, few, marked * sizeof *seen);
        if (deeper && stack == some) memcpy(deeper, some, top * sizeof *stack);
        if (wider) seen = wider, most_marked = marks;
        if (deeper) stack = deeper, size = more;
        if (!wider || !deeper) {
          at = -1;
          break;
        }
      }
      if (item->uses > 0) { /* what is part of the program is shared by all, and written each time */
        seen[marked++] = item;
        item->mark = (uint32_t)marked;
      }
      for (uint32_t k = item->count; k > 0; k--) stack[top++] = PART(item, k - 1);
    }
    for (int64_t k = 0; k < count; k++, at++)
      if (at < room) to[at] = head[k];
    for (int32_t k = 0; array && k < array->rank; k++, at++)
      if (at < room) to[at] = array->shape[k];
    if (words && at + words <= room) {
      to[at + words - 1] = 0;
      memcpy(to + at, array->data, (size_t)head[4]);
    }
    at += words;
  }
  while (marked) seen[--marked]->mark = 0;
  if (stack != some) free(stack);
  if (seen != few) free(seen);
  return at;
}

/* ---- what a value from outside must be */

typedef struct Expected Expected;
struct Expected {
  const char *text;
  uint8_t kind; /* one of the kinds of values; ANY: it cannot be told */
  Type type;
  int32_t rank;
  const int64_t *shape; /* -1: any size */
  uint16_t first, last; /* constructors */
  uint32_t count;       /* of a tuple */
  const Expected *const *parts;
};
enum { ANY = 255 };
static const Expected any = {"any", ANY, {0, 0, 0}, 0, NULL, 0, 0, 0, NULL};

static int fits(const Object *value, const Expected *wanted) {
  if (!value) return 0;
  if (wanted->kind == ANY) return 1;
  if (value->kind != wanted->kind) return 0;
  if (value->kind == TENSOR) {
    const Tensor *array = TENSOR_OF(value);
    if (memcmp(&array->type, &wanted->type, sizeof(Type)) || array->rank != wanted->rank) return 0;
    for (int32_t k = 0; k < wanted->rank; k++)
      if (wanted->shape[k] >= 0 && wanted->shape[k] != array->shape[k]) return 0;
  } else if (value->kind == FIELDS) {
    if (value->tag < wanted->first || value->tag > wanted->last) return 0;
    if (!wanted->first && value->count != wanted->count) return 0;
    for (uint32_t k = 0; k < wanted->count; k++)
      if (!fits(PART(value, k), wanted->parts[k])) return 0;
  }
  return 1;
}

/* ---- a machine's life */

static Machine *machine(void) { return calloc(1, sizeof(Machine)); }

static void end_machine(Machine *m) {
  if (!m) return;
  for (size_t k = 0; k < m->block_count; k++) free(m->blocks[k]);
  free(m->blocks);
  free(m->stack);
  free(m->frames);
  free(m);
}

/* Runs a function on arguments, which it takes over. */
static int call(Machine *m, const Function *callee, Object **arguments, Object **result) {
  m->error[0] = raised[0] = 0;
  *result = NULL;
  Object **r = enter(m, callee);
  if (!r) {
    for (uint32_t k = 0; k < callee->arguments; k++) drop(m, arguments[k]);
    return 1;
  }
  memcpy(r, arguments, callee->arguments * sizeof *r);
  if (run(m)) return 1;
  *result = m->result;
  return 0;
}
