/* ---- images and volumes, resampled to a computed size */

enum { NEAREST = 1, LINEAR = 2, CUBIC = 4, MOST_SPACES = 3 }; /* a method's number is that of the neighbours it reads */
enum { HALF_PIXEL, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, TF_HALF_PIXEL_FOR_NN, TF_CROP_AND_RESIZE };
enum { ROUND, ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, FLOOR, CEIL };
typedef struct { int method, mode, rounding; double alpha; int exclude; double outside; } How;

/* For each axis of a tensor: the axis of (batch, channels, space …) to which it belongs, whether it indexes the
   elements within blocks of that axis, and its step there, which is more than 1 on an axis that indexes blocks. */
typedef struct { int32_t rank; int32_t of[16]; int64_t step[16]; char within[16]; } Layout;

/* The elements that one interpolated value is computed from, and their weights. */
typedef struct { int64_t at[4]; double share[4]; int count, outside; } Mix;

/* The coordinate on an axis of `extent` input elements of element i of `count` outputs. */
static double place_of(int64_t i, int64_t count, int64_t extent, int mode, const double *span) {
  double scale = (double)extent / (double)count, first, last;
  switch (mode) {
    case HALF_PIXEL: return ((double)i + 0.5) * scale - 0.5;
    case PYTORCH_HALF_PIXEL: return count > 1 ? ((double)i + 0.5) * scale - 0.5 : (double)i;
    case ALIGN_CORNERS: return (double)i * ((double)(extent - 1) / (double)(count > 1 ? count - 1 : 1));
    case ASYMMETRIC: return (double)i * scale;
    case TF_HALF_PIXEL_FOR_NN: return ((double)i + 0.5) * scale;
  }
  first = span[0] * (double)(extent - 1), last = span[1] * (double)(extent - 1);
  return count > 1 ? first + (double)i * ((last - first) / (double)(count - 1)) : (first + last) / 2;
}

static double nearest(double place, int rounding) {
  const double slack = 1e-5; /* a coordinate within this distance of a whole number counts as that number */
  switch (rounding) {
    case ROUND_PREFER_FLOOR: return ceil(place - 0.5);
    case ROUND_PREFER_CEIL: return floor(place + 0.5);
    case FLOOR: return floor(place + slack);
    case CEIL: return ceil(place - slack);
  }
  return rint(place);
}

/* The weight of cubic convolution for an element at a distance (Keys, 1981). */
static double keys(double distance, double a) {
  double d = fabs(distance);
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return a * (d * d * d - 5 * d * d + 8 * d - 4);
}

/* The elements and weights for a coordinate; beyond the ends, the outermost element is repeated. */
static Mix mix_of(double place, int64_t extent, const How *how) {
  Mix mix = {.count = how->method, .outside = place < 0 || place > (double)(extent - 1)};
  double first = floor(place), part = place - first, total = 0;
  for (int k = 0; k < mix.count; k++) {
    double at = how->method == NEAREST ? nearest(place, how->rounding) : first + k - (how->method == CUBIC);
    double share = how->method == NEAREST ? 1 : how->method == LINEAR ? (k ? part : 1 - part) : keys(k - 1 - part, how->alpha);
    int inside = at >= 0 && at < (double)extent;
    if (how->method == CUBIC && how->exclude && !inside) share = 0;
    mix.at[k] = at < 0 ? 0 : inside ? (int64_t)at : extent - 1;
    mix.share[k] = share;
    total += share;
  }
  for (int k = 0; k < mix.count && how->method == CUBIC && how->exclude; k++) mix.share[k] /= total;
  return mix;
}

static double mixed(const Tensor *x, int64_t base, int axis, const Mix *const *mixes, int64_t *const *offsets) {
  if (axis < 0) return number_at(x, base);
  double total = 0;
  for (int k = 0; k < mixes[axis]->count; k++)
    if (mixes[axis]->share[k])
      total += mixes[axis]->share[k] * mixed(x, base + offsets[axis + 2][mixes[axis]->at[k]], axis - 1, mixes, offsets);
  return total;
}

/* Computes the offset of each element along an axis, which may be split into blocks, from its first. */
static void offsets_of(const Layout *layout, int32_t axis, const int64_t *shape, int64_t count, int64_t *to) {
  memset(to, 0, (size_t)count * sizeof *to);
  int64_t stride = 1;
  for (int32_t p = layout->rank - 1; p >= 0; stride *= shape[p--])
    for (int64_t i = 0; i < count && layout->of[p] == axis; i++) to[i] += i / layout->step[p] % shape[p] * stride;
}

/* Computes `y` from `x`; `offsets` holds those of each axis, of the source and of the result, and `mixes` the elements
   and weights along each axis of space. */
static void mix_all(const Tensor *x, const Tensor *y, int spaces, const int64_t *sizes, int64_t *(*offsets)[5],
                    Mix *const *mixes, const How *how) {
  int64_t total = 1, i[5] = {0};
  for (int axis = 0; axis < spaces + 2; axis++) total *= sizes[axis];
  for (int64_t n = 0; n < total; n++) {
    const Mix *here[MOST_SPACES];
    int64_t to = 0;
    int outside = 0;
    for (int axis = 0; axis < spaces + 2; axis++) to += offsets[1][axis][i[axis]];
    for (int axis = 0; axis < spaces; axis++) outside |= (here[axis] = &mixes[axis][i[axis + 2]])->outside;
    int64_t base = offsets[0][0][i[0]] + offsets[0][1][i[1]];
    put_number(y, to, outside && how->mode == TF_CROP_AND_RESIZE ? how->outside
                                                                 : mixed(x, base, spaces - 1, here, offsets[0]));
    for (int axis = spaces + 1; axis >= 0 && ++i[axis] == sizes[axis]; axis--) i[axis] = 0;
  }
}

/* `wanted` are the result's extents of space, `roi` the corners of the part that TF_CROP_AND_RESIZE crops. */
static int resampled(Machine *m, const char *name, const Tensor *x, Type type, int spaces, const int64_t *wanted,
                     const double *roi, const How *how, const Layout *layout, Object **out) {
  int64_t extents[5] = {1, 1, 1, 1, 1}, sizes[5], shape[16], room = 0, *offsets[2][5];
  Mix *mixes[MOST_SPACES];
  for (int32_t p = 0; p < layout->rank; p++) extents[layout->of[p]] *= x->shape[p];
  for (int axis = 0; axis < spaces + 2; axis++) {
    sizes[axis] = axis < 2 ? extents[axis] : wanted[axis - 2];
    room += extents[axis] + sizes[axis];
    if (axis > 1 && !extents[axis]) return op_failed(m, name, "there is nothing to resize: the data has no elements");
    if (sizes[axis] > INT64_C(1) << 40) return no_memory(m, SIZE_MAX), 1;
  }
  for (int32_t p = 0; p < layout->rank; p++) {
    int axis = layout->of[p];
    shape[p] = layout->within[p] ? x->shape[p] : sizes[axis] / layout->step[p];
    if (!layout->within[p] && sizes[axis] % layout->step[p])
      return op_failed(m, name, "an axis of extent %lld is not divisible into blocks of %lld", (long long)sizes[axis],
                        (long long)layout->step[p]);
  }
  Object *result = tensor_of(m, type, layout->rank, shape, NULL);
  int64_t *memory = result ? malloc((size_t)room * (sizeof *memory + sizeof(Mix)) + 1) : NULL;
  if (!memory) {
    if (result) drop(m, result), no_memory(m, (size_t)room * (sizeof *memory + sizeof(Mix)));
    return 1;
  }
  int64_t *next = memory;
  Mix *mix = (Mix *)(memory + room); /* after the offsets */
  for (int axis = 0; axis < spaces + 2; axis++) {
    offsets_of(layout, axis, x->shape, extents[axis], offsets[0][axis] = next);
    offsets_of(layout, axis, shape, sizes[axis], offsets[1][axis] = next + extents[axis]);
    next += extents[axis] + sizes[axis];
  }
  for (int axis = 0; axis < spaces; mix += sizes[axis++ + 2]) {
    double span[] = {roi ? roi[axis] : 0, roi ? roi[axis + spaces] : 1};
    mixes[axis] = mix;
    for (int64_t i = 0; i < sizes[axis + 2]; i++)
      mix[i] = mix_of(place_of(i, sizes[axis + 2], extents[axis + 2], how->mode, span), extents[axis + 2], how);
  }
  mix_all(x, TENSOR_OF(result), spaces, sizes, offsets, mixes, how);
  free(memory);
  *out = result;
  return 0;
}

static int dyn_image_resize2d(Machine *m, Object *const *in, Object **out, Type type, const How *how,
                              const Layout *layout) {
  const Tensor *roi = TENSOR_OF(in[2]);
  const char *name = "dyn.image.resize2d";
  int64_t sizes[] = {whole_at(TENSOR_OF(in[1]), 0), whole_at(TENSOR_OF(in[1]), 1)};
  double corners[4] = {0};
  if (sizes[0] < 1 || sizes[1] < 1)
    return op_failed(m, name, "size is %s, but every extent must be at least 1", shown(2, sizes).text);
  if (how->mode == TF_CROP_AND_RESIZE && count_of(roi) != 4)
    return op_failed(m, name, "roi has %lld numbers, but two corners have 4", (long long)count_of(roi));
  for (int64_t k = 0; k < 4 && k < count_of(roi); k++) corners[k] = number_at(roi, k);
  return resampled(m, name, TENSOR_OF(in[0]), type, 2, sizes, corners, how, layout, out);
}

/* Upsamples by the factors that follow the data as arguments. */
static int enlarged(Machine *m, Object *const *in, Object **out, const char *name, int spaces, const How *how,
                    const Layout *layout) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t extents[5] = {1, 1, 1, 1, 1}, sizes[MOST_SPACES];
  for (int32_t p = 0; p < layout->rank; p++) extents[layout->of[p]] *= x->shape[p];
  for (int axis = 0; axis < spaces; axis++) {
    double factor = number_at(TENSOR_OF(in[axis + 1]), 0);
    if (!(factor > 0 && factor < 1e9)) return op_failed(m, name, "a scale is %g, but it must be positive", factor);
    sizes[axis] = (int64_t)rint((double)extents[axis + 2] * factor);
  }
  return resampled(m, name, x, x->type, spaces, sizes, NULL, how, layout, out);
}
