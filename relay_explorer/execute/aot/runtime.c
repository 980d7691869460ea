/* The runtime of every program that is compiled ahead of time: values and their memory, calls, kernels.

   Values are reference-counted: when the count of a value becomes 0, its memory is reused. The registers of
   functions lie on a stack of the machine, not on C's, so only memory limits the depth of a recursion. */

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

/* Only the functions of the interface are exported from the library. */
#define API __attribute__((visibility("default")))

/* ---- kernels' arguments: tensors in the layout of DLPack, passed by TVM's calling convention */

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

enum { TENSOR, STORAGE, FIELDS, CLOSURE, CELL, OUTSIDE }; /* kinds; OUTSIDE: an external function */
enum { ALIGNMENT = 64, FOREVER = -1 };

typedef struct Object Object;
struct Object {
  int32_t uses;  /* the reference count; FOREVER: part of the program */
  uint8_t kind;
  uint8_t size;  /* its size class */
  uint16_t tag;  /* of FIELDS the constructor's tag, of a CLOSURE the function's index */
  uint32_t count; /* of FIELDS, a CLOSURE, a CELL: the number of parts that follow */
  uint32_t mark;  /* during a traversal: the value's number, from 1; 0: not visited */
  Object *next;   /* the next value of the list to be freed, or of the free list */
};
typedef struct { Object head; Tensor array; Object *storage; int64_t sizes[]; } TensorObject;
typedef struct { Object head; Object *part[]; } Parts;
typedef struct { Object head; Object *content; size_t place; } Cell; /* `place`: its index in `cells` */

#define TENSOR_OF(object) (&((TensorObject *)(object))->array)
#define PART(object, k) (((Parts *)(object))->part[k])

/* ---- the machine */

enum { SMALL = 64, SIZES = SMALL + 4 * 40, CHUNK = 1 << 18 };

typedef struct Machine Machine;
typedef int (*Code)(Machine *, Object **, int); /* takes registers and a resume point; not 0: it failed */
typedef struct { Code code; int32_t at; uint32_t count; size_t base; } Frame;
typedef struct Expected Expected;
typedef struct {
  Code code;
  uint32_t registers, arguments; /* `arguments` includes the captured values */
  const char *name;
  const Expected *const *types; /* of arguments and result, if it is used as a value and they are known; or NULL */
} Function;

struct Machine {
  Object **stack;
  size_t stack_size;
  Frame *frames;
  size_t depth, most_frames;
  Object *result; /* of the function that returned last */
  Object *held;   /* the result of the last run, until the caller has read it */
  Argument nothing;
  Object *free[SIZES];
  char *chunk;
  size_t chunk_left;
  void **blocks; /* all memory allocated from the system */
  size_t block_count, most_blocks;
  Object **cells; /* all live cells */
  size_t cell_count, most_cells;
  size_t cells_left; /* the number of cells after the last search for cycles */
  int64_t live; /* the number of live values */
  int64_t memory; /* the bytes allocated from the system */
  int64_t *log; /* the log of kernel calls (see clock.c); `log_lost`: some did not fit into memory */
  size_t logged, log_room;
  int log_lost;
  char error[1000];
};

static int failed(Machine *m, const char *text, ...) {
  if (!m) return 1; /* the machine itself could not be allocated */
  va_list rest;
  va_start(rest, text);
  vsnprintf(m->error, sizeof m->error, text, rest);
  va_end(rest);
  return 1;
}

/* ---- memory, in size classes: multiples of 64 bytes up to 4096, then four classes per power of two */

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
  char *result = aligned_alloc(ALIGNMENT, bytes);
  if (!result) return NULL;
  m->blocks[m->block_count++] = result;
  m->memory += (int64_t)bytes;
  return result;
}

static Object *no_memory(Machine *m, size_t bytes) {
  failed(m, "out of memory: cannot allocate %zu bytes", bytes);
  return NULL;
}

static Object *object(Machine *m, size_t bytes, int kind, uint32_t count) {
  size_t rounded;
  if (bytes > (size_t)1 << 50) return no_memory(m, bytes);
  unsigned size = size_of(bytes, &rounded);
  Object *result = m->free[size];
  if (result) {
    m->free[size] = result->next;
  } else if (rounded > CHUNK / 8) {
    result = (Object *)block(m, rounded);
  } else {
    if (m->chunk_left < rounded) {
      char *chunk = block(m, CHUNK);
      if (!chunk) return no_memory(m, bytes);
      m->chunk = chunk;
      m->chunk_left = CHUNK;
    }
    result = (Object *)m->chunk;
    m->chunk += rounded;
    m->chunk_left -= rounded;
  }
  if (!result) return no_memory(m, bytes);
  m->live++;
  result->uses = 1;
  result->kind = (uint8_t)kind;
  result->size = (uint8_t)size;
  result->tag = 0;
  result->count = count;
  result->mark = 0;
  return result;
}

static inline Object *keep(Object *value) {
  if (value->uses > 0) value->uses++;
  return value;
}

static void forget_cell(Machine *m, Object *cell);
static void release_outside(Object *value);

/* Frees a value whose count is 0, and all values whose counts become 0 with it, without recursion. */
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
      release_outside(value);
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

/* Empties a register, and releases its value. */
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

/* ---- creating values */

static inline Object *parts(Machine *m, int kind, unsigned tag, uint32_t count) {
  Object *result = object(m, sizeof(Parts) + count * sizeof(Object *), kind, count);
  if (result) result->tag = (uint16_t)tag;
  return result;
}

static inline Object *storage(Machine *m, size_t bytes) {
  return object(m, ALIGNMENT + bytes, STORAGE, 0);
}

/* Creates a tensor at the beginning of a storage, to which it adds a reference; `shape` is not copied. */
static Object *tensor_in(Machine *m, Object *in, Type type, int32_t rank, const int64_t *shape) {
  TensorObject *result = (TensorObject *)object(m, sizeof(TensorObject), TENSOR, 0);
  if (!result) return NULL;
  result->array = (Tensor){(char *)in + ALIGNMENT, {1, 0}, rank, type, shape, NULL, 0};
  result->storage = keep(in);
  return &result->head;
}

static size_t bytes_of(Type type, int32_t rank, const int64_t *shape) {
  size_t bytes = (type.bits + 7u) / 8;
  for (int32_t k = 0; k < rank; k++)
    if (shape[k] < 0 || __builtin_mul_overflow(bytes, (size_t)shape[k], &bytes)) return SIZE_MAX;
  return bytes;
}

/* Creates a tensor with its own copy of the shape. It refers to `data`, or owns new memory if that is NULL. */
static Object *tensor_of(Machine *m, Type type, int32_t rank, const int64_t *shape, void *data) {
  TensorObject *result =
      (TensorObject *)object(m, sizeof(TensorObject) + (size_t)rank * sizeof(int64_t), TENSOR, 0);
  if (!result) return NULL;
  if (rank) memcpy(result->sizes, shape, (size_t)rank * sizeof(int64_t));
  result->array = (Tensor){data, {1, 0}, rank, type, result->sizes, NULL, 0};
  result->storage = NULL;
  if (!data) {
    size_t bytes = bytes_of(type, rank, shape);
    result->storage = bytes == SIZE_MAX ? no_memory(m, bytes) : storage(m, bytes);
    if (!result->storage) {
      drop(m, &result->head);
      return NULL;
    }
    result->array.data = (char *)result->storage + ALIGNMENT;
  }
  return &result->head;
}

/* Creates a view of a tensor's elements with another shape, which is not copied. */
static Object *reshaped(Machine *m, Object *source, int32_t rank, const int64_t *shape) {
  TensorObject *result = (TensorObject *)object(m, sizeof(TensorObject), TENSOR, 0);
  if (!result) return NULL;
  result->array = *TENSOR_OF(source);
  result->array.rank = rank;
  result->array.shape = shape;
  /* Data without a storage belongs to the program or to the caller, and outlives the view. */
  result->storage = ((TensorObject *)source)->storage;
  if (result->storage) keep(result->storage);
  return &result->head;
}

/* ---- calls */

enum { MOST_REGISTERS = 1 << 27, MOST_FRAMES = 1 << 23 };

static int too_deep(Machine *m) {
  return failed(m, "the recursion is too deep: %zu calls have not returned\nhelp: does the recursion end? A loop that "
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

/* Pushes a frame, and returns its registers, all empty; NULL: it is too deep. The caller's registers may move. */
static Object **enter(Machine *m, const Function *callee) {
  if (m->depth == m->most_frames && more_frames(m)) return NULL;
  size_t base = 0;
  if (m->depth) base = m->frames[m->depth - 1].base + m->frames[m->depth - 1].count;
  if (base + callee->registers > m->stack_size && more_stack(m, base + callee->registers)) return NULL;
  m->frames[m->depth++] = (Frame){callee->code, 0, callee->registers, base};
  memset(m->stack + base, 0, callee->registers * sizeof(Object *));
  return m->stack + base;
}

/* Replaces the topmost frame, whose registers are all empty, by one for a tail call, and returns its registers. */
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

/* Runs until only `depth` frames are left. If a call fails, releases their registers and returns 1. */
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
