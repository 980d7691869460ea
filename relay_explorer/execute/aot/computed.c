/* ---- operators whose result shapes are computed from data, and which therefore allocate their results themselves

   Each is a function of its arguments `in`, which stores its results in `out` and returns 0. If it fails, it returns
   another number, and leaves `out` unchanged. */

enum { MOST_AXES = 64, NOWHERE = -1 };

static int op_failed(Machine *m, const char *name, const char *text, ...) {
  va_list rest;
  va_start(rest, text);
  int length = snprintf(m->error, sizeof m->error, "`%s` failed: ", name);
  vsnprintf(m->error + length, sizeof m->error - (size_t)length, text, rest);
  va_end(rest);
  return 1;
}

/* Appends an instruction's location in the source to the error message. */
static int add_location(Machine *m, const char *place) {
  size_t length = strlen(m->error);
  snprintf(m->error + length, sizeof m->error - length, "%s", place);
  return 1;
}

/* Formats numbers like a shape. */
typedef struct { char text[120]; } Text;
static Text shown(int64_t rank, const int64_t *sizes) {
  Text result = {"("};
  size_t length = 1;
  for (int64_t k = 0; k < rank && length < sizeof result.text - 30; k++)
    length += (size_t)sprintf(result.text + length, k ? ", %lld" : "%lld", (long long)sizes[k]);
  strcpy(result.text + length, rank == 1 ? ",)" : ")");
  return result;
}

/* ---- views and new tensors */

static int64_t count_of(const Tensor *x) {
  int64_t count = 1;
  for (int32_t k = 0; k < x->rank; k++) count *= x->shape[k];
  return count;
}

/* Copies the integers of a vector or a scalar to `to`, at most MOST_AXES, and returns their number. */
static int64_t integers_of(const Object *vector, int64_t *to) {
  const Tensor *x = TENSOR_OF(vector);
  int64_t count = count_of(x) < MOST_AXES ? count_of(x) : MOST_AXES;
  for (int64_t k = 0; k < count; k++) to[k] = whole_at(x, k);
  return count;
}

/* Creates a tensor of a computed shape. */
static Object *sized(Machine *m, const char *name, Type type, int32_t rank, const int64_t *sizes) {
  for (int32_t k = 0; k < rank; k++)
    if (sizes[k] < 0) {
      op_failed(m, name, "the shape %s has a negative extent", shown(rank, sizes).text);
      return NULL;
    }
  return tensor_of(m, type, rank, sizes, NULL);
}

/* Creates a view of a tensor with another shape, which must have the rank of the result's type. */
static int viewed(Machine *m, const char *name, Object *source, int32_t rank, const int64_t *sizes, int32_t wanted,
                  Object **out) {
  if (rank != wanted)
    return op_failed(m, name, "the result has the shape %s, but its type has %d axes", shown(rank, sizes).text,
                      (int)wanted);
  Object *result = tensor_of(m, TENSOR_OF(source)->type, rank, sizes, TENSOR_OF(source)->data);
  if (!result) return 1;
  Object *storage = ((TensorObject *)source)->storage;
  if (storage) ((TensorObject *)result)->storage = keep(storage);
  *out = result;
  return 0;
}

/* Sets all elements to one value. */
static void fill(const Tensor *to, const Tensor *from) {
  int64_t count = count_of(to);
  if (!count) return;
  size_t bytes = (size_t)count * bytes_of(to->type, 0, NULL), done = bytes_of(to->type, 0, NULL);
  put(to, 0, from, 0);
  for (; done < bytes; done *= 2)
    memcpy((char *)to->data + done, to->data, done < bytes - done ? done : bytes - done);
}

/* ---- new shapes of the same elements */

typedef struct { const Tensor *x; const char *name; Text wanted; int32_t at; char used[MOST_AXES]; } Source;

/* Returns the next extent of the source, and marks it as used; negative: there is none. */
static int64_t taken_from(Machine *m, Source *s, int value) {
  if (s->at >= s->x->rank) {
    op_failed(m, s->name, "newshape=%s asks for axis %d of the tensor with %d, but %s has %d", s->wanted.text,
               (int)s->at, value, shown(s->x->rank, s->x->shape).text, (int)s->x->rank);
    return -1;
  }
  s->used[s->at] = 1;
  return s->x->shape[s->at++];
}

/* Returns the extent that -1 stands for: the elements that no other extent accounts for. */
static int64_t left_over(Machine *m, const Source *s, int64_t others) {
  int64_t have = 1;
  for (int32_t k = 0; k < s->x->rank; k++) have *= s->used[k] ? 1 : s->x->shape[k];
  if (others && have % others == 0) return have / others;
  op_failed(m, s->name, "the tensor %s has %lld elements for -1 and the other extents, %lld, but %lld does not divide "
             "%lld",
             shown(s->x->rank, s->x->shape).text, (long long)have, (long long)others, (long long)others,
             (long long)have);
  return -1;
}

/* Splits the next extent in two, of which one may be -1: the rest. */
static int split_in_two(Machine *m, Source *s, int64_t left, int64_t right, int64_t *to) {
  if (left < -1 || right < -1 || !left || !right || (left < 0 && right < 0))
    return op_failed(m, s->name, "newshape=%s: after -4 come two positive factors, of which one may be -1",
                      s->wanted.text);
  int64_t whole = taken_from(m, s, -4);
  if (whole < 0) return 1;
  to[0] = left < 0 ? whole / right : left;
  to[1] = right < 0 ? whole / left : right;
  if (to[0] * to[1] == whole) return 0;
  return op_failed(m, s->name, "newshape=%s splits an axis, %lld, into %lld and %lld, whose product it is not",
                    s->wanted.text, (long long)whole, (long long)left, (long long)right);
}

static int dyn_reshape(Machine *m, Object *const *in, Object **out, int32_t axes, int allow_zero) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t wanted[MOST_AXES], sizes[2 * MOST_AXES + 4], others = 1;
  int64_t count = integers_of(in[1], wanted), open = -1;
  Source s = {x, "dyn.reshape", shown(count, wanted), 0, {0}};
  int32_t rank = 0;
  for (int64_t k = 0; k < count && rank < MOST_AXES; k++) {
    int64_t value = wanted[k];
    if (value > 0 || (value == 0 && allow_zero)) {
      sizes[rank++] = value;
      if (__builtin_mul_overflow(others, value, &others)) others = 0;
      s.at++;
    } else if (value == 0) {
      if ((sizes[rank++] = taken_from(m, &s, 0)) < 0) return 1;
    } else if (value == -1) {
      if (open >= 0) return op_failed(m, s.name, "newshape=%s leaves two dimensions unspecified", s.wanted.text);
      open = rank;
      sizes[rank++] = 1;
      s.at++;
    } else if (value == -2) {
      while (s.at < x->rank && rank < MOST_AXES) sizes[rank++] = taken_from(m, &s, -2);
    } else if (value == -3) {
      int64_t first = taken_from(m, &s, -3), second = first < 0 ? -1 : taken_from(m, &s, -3);
      if (second < 0) return 1;
      sizes[rank++] = first * second;
    } else if (value == -4) {
      int64_t left = k + 1 < count ? wanted[k + 1] : 0, right = k + 2 < count ? wanted[k + 2] : 0;
      if (split_in_two(m, &s, left, right, sizes + rank)) return 1;
      rank += 2;
      k += 2;
    } else {
      return op_failed(m, s.name, "newshape=%s has %lld, but the special values are 0, -1, -2, -3 and -4",
                        s.wanted.text, (long long)value);
    }
  }
  if (open >= 0 && (sizes[open] = left_over(m, &s, others)) < 0) return 1;
  int64_t total = 1, have = count_of(x);
  for (int32_t k = 0; k < rank; k++)
    if (__builtin_mul_overflow(total, sizes[k], &total)) total = -1;
  if (total != have)
    return op_failed(m, s.name, "the tensor %s has %lld elements, but the new shape %s has a different number",
                      shown(x->rank, x->shape).text, (long long)have, shown(rank, sizes).text);
  return viewed(m, s.name, in[0], rank, sizes, axes, out);
}

static int dyn_expand_dims(Machine *m, Object *const *in, Object **out, int32_t axes, int32_t more) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t sizes[2 * MOST_AXES], place = whole_at(TENSOR_OF(in[1]), 0);
  int64_t at = place >= 0 ? place : x->rank + place + 1;
  /* Clamped, as the bounds of a slice are: beyond the last axis means after it. */
  at = at < 0 ? (at + x->rank < 0 ? 0 : at + x->rank) : at > x->rank ? x->rank : at;
  int32_t rank = 0;
  for (int32_t k = 0; k < at; k++) sizes[rank++] = x->shape[k];
  for (int32_t k = 0; k < more; k++) sizes[rank++] = 1;
  for (int32_t k = (int32_t)at; k < x->rank; k++) sizes[rank++] = x->shape[k];
  return viewed(m, "dyn.expand_dims", in[0], rank, sizes, axes, out);
}

static int dyn_squeeze(Machine *m, Object *const *in, Object **out, int32_t axes) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t dropped[MOST_AXES], count = integers_of(in[1], dropped), sizes[MOST_AXES];
  char gone[MOST_AXES] = {0};
  for (int64_t k = 0; k < count; k++) {
    int64_t axis = dropped[k] < 0 ? dropped[k] + x->rank : dropped[k];
    if (axis < 0 || axis >= x->rank || gone[axis])
      return op_failed(m, "dyn.squeeze", "axis %lld is not one of the %d axes, or is listed twice",
                        (long long)dropped[k], (int)x->rank);
    if (x->shape[axis] != 1)
      return op_failed(m, "dyn.squeeze", "axis %lld of %s does not have the extent 1", (long long)dropped[k],
                        shown(x->rank, x->shape).text);
    gone[axis] = 1;
  }
  int32_t rank = 0;
  for (int32_t k = 0; k < x->rank; k++)
    if (!gone[k]) sizes[rank++] = x->shape[k];
  return viewed(m, "dyn.squeeze", in[0], rank, sizes, axes, out);
}

/* ---- arange: numbers from start to stop by step */

/* Rounds a number to an element type. */
static double rounded(Type type, double value) {
  uint64_t room;
  Tensor one = {&room, {1, 0}, 0, type, NULL, NULL, 0};
  put_number(&one, 0, value);
  return number_at(&one, 0);
}

static int arange(Machine *m, Object *const *in, Object **out, Type type) {
  const char *name = "arange";
  int64_t length, first = whole_at(TENSOR_OF(in[0]), 0), by = whole_at(TENSOR_OF(in[2]), 0);
  double start = number_at(TENSOR_OF(in[0]), 0), stop = number_at(TENSOR_OF(in[1]), 0);
  double step = number_at(TENSOR_OF(in[2]), 0), steps = (stop - start) / step;
  if (!step) return op_failed(m, name, "a step of 0 gives an infinite vector");
  if (is_whole(type)) {
    int64_t last = whole_at(TENSOR_OF(in[1]), 0);
    uint64_t distance = by > 0 ? (uint64_t)last - (uint64_t)first : (uint64_t)first - (uint64_t)last;
    uint64_t stride = by > 0 ? (uint64_t)by : -(uint64_t)by;
    length = (by > 0) == (last > first) && last != first ? (int64_t)((distance - 1) / stride + 1) : 0;
  } else {
    if (!(fabs(steps) < 1e15))
      return op_failed(m, name, "a vector from %g to %g by %g is infinite", start, stop, step);
    length = steps > 0 ? (int64_t)ceil(steps) : 0;
  }
  Object *result = sized(m, name, type, 1, &length);
  if (!result) return 1;
  const Tensor *y = TENSOR_OF(result);
  for (int64_t k = 0; k < length; k++)
    if (is_whole(type))
      put_whole(y, k, (int64_t)((uint64_t)first + (uint64_t)k * (uint64_t)by));
    else
      put_number(y, k, start + rounded(type, rounded(type, (double)k) * step));
  *out = result;
  return 0;
}

/* ---- tensors of one value (full), and of two (one_hot) */

static int dyn_full(Machine *m, Object *const *in, Object **out, const char *name, Type type, int32_t shape) {
  int64_t sizes[MOST_AXES];
  int32_t rank = (int32_t)integers_of(in[shape], sizes);
  Object *result = sized(m, name, type, rank, sizes);
  if (!result) return 1;
  fill(TENSOR_OF(result), TENSOR_OF(in[1 - shape]));
  *out = result;
  return 0;
}

static int dyn_one_hot(Machine *m, Object *const *in, Object **out, Type type, int32_t axis) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t sizes[MOST_AXES + 1], depth = whole_at(TENSOR_OF(in[3]), 0), inner = 1;
  for (int32_t k = 0; k <= x->rank; k++)
    sizes[k] = k < axis ? x->shape[k] : k > axis ? x->shape[k - 1] : depth > 0 ? depth : 0;
  for (int32_t k = axis; k < x->rank; k++) inner *= x->shape[k];
  Object *result = sized(m, "dyn.one_hot", type, x->rank + 1, sizes);
  if (!result) return 1;
  const Tensor *y = TENSOR_OF(result);
  fill(y, TENSOR_OF(in[2]));
  int64_t count = count_of(x);
  for (int64_t k = 0; k < count; k++) {
    int64_t hot = whole_at(x, k);
    if (hot >= 0 && hot < depth) put(y, (k / inner * depth + hot) * inner + k % inner, TENSOR_OF(in[1]), 0);
  }
  *out = result;
  return 0;
}
