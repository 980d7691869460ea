
/* ---- kernel calls, and a log of their times, which is written if CLOCKED is defined

   An entry of the log is the kernel's number, the nanoseconds at which it began and ended, and the number of tensors
   that follow, each with its rank and sizes. No tensors follow if all the kernel's sizes are static. */

#ifdef CLOCKED
#include <time.h>

static int64_t nanoseconds(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void note_call(Machine *m, int64_t kernel, int64_t began, const Argument *tensors, int32_t count) {
  int64_t ended = nanoseconds();
  if (!kernel_table[kernel].open) count = 0;
  size_t wanted = m->logged + 4;
  for (int32_t k = 0; k < count; k++) wanted += 1 + (size_t)tensors[k].tensor->rank;
  if (wanted > m->log_room) {
    size_t more = m->log_room ? m->log_room : 1024;
    while (more < wanted) more *= 2;
    int64_t *grown = realloc(m->log, more * sizeof *grown);
    if (!grown) {
      m->log_lost = 1;
      return;
    }
    m->log = grown;
    m->log_room = more;
  }
  int64_t *to = m->log + m->logged;
  *to++ = kernel, *to++ = began, *to++ = ended, *to++ = count;
  for (int32_t k = 0; k < count; k++) {
    const Tensor *array = tensors[k].tensor;
    *to++ = array->rank;
    for (int32_t axis = 0; axis < array->rank; axis++) *to++ = array->shape[axis];
  }
  m->logged = wanted;
}
#else
static inline int64_t nanoseconds(void) { return 0; }
static inline void note_call(Machine *m, int64_t kernel, int64_t began, const Argument *tensors, int32_t count) {}
#endif

static inline int run_kernel(Machine *m, Kernel kernel, int64_t number, const Argument *tensors, int32_t count) {
  int64_t began = nanoseconds();
  if (kernel(NULL, tensors, count, &m->nothing))
    return failed(m, "the kernel `%s` failed: %s", kernel_table[number].name, raised);
  note_call(m, number, began, tensors, count);
  return 0;
}
