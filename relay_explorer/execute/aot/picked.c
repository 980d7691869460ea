/* ---- results that copy elements of another tensor, where each axis chooses its indices independently

   `from[axis][i]` is what index i on an axis of the result contributes to an element's offset in the source; the
   offsets of all axes are added. NOWHERE: there is no element, and the result has the padding value. */

typedef struct { int32_t rank; int64_t sizes[MOST_AXES], *from[MOST_AXES]; } Picks;

/* Allocates the offsets for a result of the shape `sizes`. */
static int open_picks(Machine *m, const char *name, Picks *picks, int32_t rank, const int64_t *sizes) {
  int64_t total = 0;
  picks->rank = rank;
  for (int32_t axis = 0; axis < rank; axis++) {
    if (sizes[axis] < 0)
      return op_failed(m, name, "the shape %s has a negative extent", shown(rank, sizes).text);
    if (__builtin_add_overflow(total, sizes[axis], &total) || total > INT64_C(1) << 48)
      return no_memory(m, SIZE_MAX), 1;
    picks->sizes[axis] = sizes[axis];
  }
  int64_t *room = malloc((size_t)(total + 1) * sizeof *room);
  if (!room) return no_memory(m, (size_t)total * sizeof *room), 1;
  picks->from[0] = room;
  for (int32_t axis = 1; axis < rank; axis++) picks->from[axis] = picks->from[axis - 1] + sizes[axis - 1];
  return 0;
}

static void copy_run(char *to, const char *source, const int64_t *from, int64_t count, size_t bytes, const char *other) {
#define COPY(size) \
  case size: \
    for (int64_t k = 0; k < count; k++, to += size) memcpy(to, from[k] < 0 ? other : source + from[k] * size, size); \
    return;
  switch (bytes) {
    COPY(1) COPY(2) COPY(4) COPY(8)
  }
#undef COPY
}

/* Creates the result, and frees the offsets; `other` is a tensor with the padding value, or NULL. */
static int picked(Machine *m, Picks *picks, const Tensor *x, const Object *other, Object **out) {
  Object *result = tensor_of(m, x->type, picks->rank, picks->sizes, NULL);
  if (!result) return free(picks->from[0]), 1;
  size_t bytes = bytes_of(x->type, 0, NULL);
  int64_t here = 0, last = picks->rank - 1, i[MOST_AXES] = {0}, filler = 0;
  Tensor one = {&filler, {1, 0}, 0, x->type, NULL, NULL, 0};
  if (other) put(&one, 0, TENSOR_OF(other), 0);
  char *to = TENSOR_OF(result)->data;
  const int64_t *run = picks->rank ? picks->from[last] : &here;
  int64_t length = picks->rank ? picks->sizes[last] : 1, rows = length ? count_of(TENSOR_OF(result)) / length : 0;
  for (int64_t row = 0; row < rows; row++, to += (size_t)length * bytes) {
    int64_t base = 0, nowhere = 0;
    for (int64_t axis = 0; axis < last; axis++) {
      base += picks->from[axis][i[axis]];
      nowhere |= picks->from[axis][i[axis]] < 0;
    }
    if (nowhere)
      for (int64_t k = 0; k < length; k++) memcpy(to + (size_t)k * bytes, &filler, bytes);
    else
      copy_run(to, (const char *)x->data + base * (int64_t)bytes, run, length, bytes, (const char *)&filler);
    for (int64_t axis = last - 1; axis >= 0 && ++i[axis] == picks->sizes[axis]; axis--) i[axis] = 0;
  }
  free(picks->from[0]);
  *out = result;
  return 0;
}

/* Computes the strides of a tensor, in elements. */
static void steps_of(const Tensor *x, int64_t *steps) {
  int64_t step = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; step *= x->shape[axis--]) steps[axis] = step;
}

static int dyn_broadcast_to(Machine *m, Object *const *in, Object **out) {
  const Tensor *x = TENSOR_OF(in[0]);
  const char *name = "dyn.broadcast_to";
  int64_t sizes[MOST_AXES], steps[MOST_AXES];
  int32_t rank = (int32_t)integers_of(in[1], sizes), more = rank - x->rank;
  Picks picks;
  for (int32_t axis = 0; axis < x->rank; axis++)
    if (x->shape[axis] != 1 && x->shape[axis] != sizes[axis + more])
      return op_failed(m, name, "broadcasting %s does not give %s", shown(x->rank, x->shape).text,
                        shown(rank, sizes).text);
  if (open_picks(m, name, &picks, rank, sizes)) return 1;
  steps_of(x, steps);
  for (int32_t axis = 0; axis < rank; axis++)
    for (int64_t i = 0; i < sizes[axis]; i++)
      picks.from[axis][i] = axis < more || x->shape[axis - more] == 1 ? 0 : i * steps[axis - more];
  return picked(m, &picks, x, NULL, out);
}

static int dyn_tile(Machine *m, Object *const *in, Object **out) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t times[MOST_AXES], sizes[MOST_AXES], steps[MOST_AXES];
  int32_t reps = (int32_t)integers_of(in[1], times), rank = reps > x->rank ? reps : x->rank;
  Picks picks;
  for (int32_t axis = 0; axis < rank; axis++) {
    int64_t size = axis < rank - x->rank ? 1 : x->shape[axis - rank + x->rank];
    int64_t often = axis < rank - reps ? 1 : times[axis - rank + reps];
    if (often < 0) return op_failed(m, "dyn.tile", "reps=%s has a negative number", shown(reps, times).text);
    if (__builtin_mul_overflow(size, often, &sizes[axis])) return no_memory(m, SIZE_MAX), 1;
  }
  if (open_picks(m, "dyn.tile", &picks, rank, sizes)) return 1;
  steps_of(x, steps);
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t own = axis - rank + x->rank;
    for (int64_t i = 0; i < sizes[axis]; i++) picks.from[axis][i] = own < 0 ? 0 : i % x->shape[own] * steps[own];
  }
  return picked(m, &picks, x, NULL, out);
}

/* Normalizes a bound of a slice: counted from the end if negative, and clamped to the axis. */
static int64_t bound(int64_t place, int64_t extent, int64_t stride) {
  int64_t least = stride < 0 ? -1 : 0, most = stride < 0 ? extent - 1 : extent;
  if (place < 0) place = place < -extent ? -1 : place + extent;
  return place < least ? least : place > most ? most : place;
}

static int dyn_strided_slice(Machine *m, Object *const *in, Object **out, int by_size) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t bounds[3][MOST_AXES], count[3], sizes[MOST_AXES], steps[MOST_AXES], first[MOST_AXES], by[MOST_AXES];
  for (int k = 0; k < 3; k++) count[k] = integers_of(in[k + 1], bounds[k]);
  Picks picks;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    int64_t stride = axis < count[2] ? bounds[2][axis] : 1;
    int64_t begin = axis < count[0] ? bounds[0][axis] : stride > 0 ? 0 : INT64_MAX;
    int64_t end = axis < count[1] ? bounds[1][axis] : stride > 0 ? INT64_MAX : 0;
    if (!stride)
      return op_failed(m, "dyn.strided_slice", "strides=%s has a 0, but a stride must not be 0",
                        shown(count[2], bounds[2]).text);
    if (by_size) {
      if (end < 0 || __builtin_add_overflow(begin, end, &end)) end = INT64_MAX;
      stride = 1;
    }
    first[axis] = bound(begin, x->shape[axis], stride);
    int64_t length = stride > 0 ? bound(end, x->shape[axis], stride) - first[axis]
                                : first[axis] - bound(end, x->shape[axis], stride);
    uint64_t step = stride > 0 ? (uint64_t)stride : -(uint64_t)stride;
    sizes[axis] = length > 0 ? (int64_t)(((uint64_t)length - 1) / step) + 1 : 0;
    by[axis] = sizes[axis] > 1 ? stride : 0;
  }
  if (open_picks(m, "dyn.strided_slice", &picks, x->rank, sizes)) return 1;
  steps_of(x, steps);
  for (int32_t axis = 0; axis < x->rank; axis++)
    for (int64_t i = 0; i < sizes[axis]; i++) picks.from[axis][i] = (first[axis] + i * by[axis]) * steps[axis];
  return picked(m, &picks, x, NULL, out);
}

enum { CONSTANT, EDGE, REFLECT };

/* The index whose element pads an axis at an index beyond its ends; NOWHERE: the padding value. */
static int64_t beyond(int64_t place, int64_t extent, int mode) {
  if (place >= 0 && place < extent) return place;
  if (mode == CONSTANT) return NOWHERE;
  if (mode == EDGE) return place < 0 ? 0 : extent - 1;
  int64_t period = 2 * (extent - 1), turned = period ? (place % period + period) % period : 0;
  return turned < extent ? turned : period - turned;
}

static int dyn_nn_pad(Machine *m, Object *const *in, Object **out, int mode) {
  const Tensor *x = TENSOR_OF(in[0]), *widths = TENSOR_OF(in[1]);
  int64_t sizes[MOST_AXES], steps[MOST_AXES];
  Picks picks;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    int64_t before = whole_at(widths, 2 * axis), after = whole_at(widths, 2 * axis + 1);
    if (__builtin_add_overflow(before, after, &after) || __builtin_add_overflow(x->shape[axis], after, &sizes[axis]))
      return no_memory(m, SIZE_MAX), 1;
    if (sizes[axis] < 0)
      return op_failed(m, "dyn.nn.pad", "pad_width removes %lld elements from axis %d, which has %lld",
                        (long long)-after, (int)axis, (long long)x->shape[axis]);
    if (mode != CONSTANT && !x->shape[axis] && sizes[axis])
      return op_failed(m, "dyn.nn.pad", "axis %d is empty, so it has no elements to pad it with", (int)axis);
  }
  if (open_picks(m, "dyn.nn.pad", &picks, x->rank, sizes)) return 1;
  steps_of(x, steps);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    int64_t before = whole_at(widths, 2 * axis);
    for (int64_t i = 0; i < sizes[axis]; i++) {
      int64_t at = beyond(i - before, x->shape[axis], mode);
      picks.from[axis][i] = at < 0 ? NOWHERE : at * steps[axis];
    }
  }
  return picked(m, &picks, x, in[2], out);
}
