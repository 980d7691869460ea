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

enum { TENSOR, STORAGE, FIELDS, CLOSURE, CELL, OUTSIDE }; /* kinds; OUTSIDE: what a function from outside is */
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
typedef struct { Object head; Object *content; size_t place; } Cell; /* and its place among all */

#define TENSOR_OF(object) (&((TensorObject *)(object))->array)
#define PART(object, k) (((Parts *)(object))->part[k])

/* ---- the machine */

enum { SMALL = 64, SIZES = SMALL + 4 * 40, CHUNK = 1 << 18 };

typedef struct Machine Machine;
typedef int (*Code)(Machine *, Object **, int); /* registers, and where to go on; not 0: it failed */
typedef struct { Code code; int32_t at; uint32_t count; size_t base; } Frame;
typedef struct Expected Expected;
typedef struct {
  Code code;
  uint32_t registers, arguments; /* those that are captured are arguments too */
  const char *name;
  const Expected *const *types; /* of arguments and result, where it is used as a value and they are known */
} Function;

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
  Object **cells; /* all that are live */
  size_t cell_count, most_cells;
  size_t cells_left; /* how many there were when circles were last looked for */
  int64_t live; /* values that somebody holds */
  int64_t memory; /* bytes that the system gave */
  int64_t *log; /* the calls of kernels (see clock.c), and whether there was no memory for some */
  size_t logged, log_room;
  int log_lost;
  char error[1000];
};

static int failed(Machine *m, const char *text, ...) {
  if (!m) return 1; /* there was no memory for it */
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

static void forget_cell(Machine *m, Object *cell);
static void let_outside_go(Object *value);

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
    } else if (value->kind == CELL) {
      forget_cell(m, value);
    } else if (value->kind == OUTSIDE) {
      let_outside_go(value);
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
  if (rank) memcpy(made->sizes, shape, (size_t)rank * sizeof(int64_t));
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

/* Runs until the calls that are there beyond the first `depth` have returned. */
static int run(Machine *m, size_t depth) {
  while (m->depth > depth) {
    Frame *frame = &m->frames[m->depth - 1];
    if (frame->code(m, m->stack + frame->base, frame->at)) {
      for (; m->depth > depth; m->depth--) {
        frame = &m->frames[m->depth - 1];
        for (uint32_t k = 0; k < frame->count; k++) clear(m, &m->stack[frame->base + k]);
      }
      return 1;
    }
  }
  return 0;
}
