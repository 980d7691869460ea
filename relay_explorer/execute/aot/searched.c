/* ---- operators that sort and search: topk, argwhere, and those on sparse tensors */

/* Sorts `places`, the indices of elements that lie `step` apart from `start`, by a stable merge sort. `room` is a
   buffer of the same size. */
static void in_order(const Tensor *x, int64_t start, int64_t step, int ascending, int64_t *places, int64_t count,
                     int64_t *room) {
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t left = 0; left < count; left += 2 * width) {
      int64_t middle = left + width < count ? left + width : count;
      int64_t right = left + 2 * width < count ? left + 2 * width : count;
      for (int64_t to = left, a = left, b = middle; to < right; to++) {
        int64_t one = start + places[a < middle ? a : 0] * step, other = start + places[b < right ? b : 0] * step;
        int second = a == middle || (b < right && (ascending ? before(x, other, one) : before(x, one, other)));
        room[to] = second ? places[b++] : places[a++];
      }
    }
    memcpy(places, room, (size_t)count * sizeof *room);
  }
}

static int dyn_topk(Machine *m, Object *const *in, Object **out, Type type, int32_t axis, int ascending, int both) {
  /* `both`: 0 returns values, 1 indices, 2 both */
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t extent = x->shape[axis], k = whole_at(TENSOR_OF(in[1]), 0), sizes[MOST_AXES], step = 1, outer = 1;
  int64_t count = k < 1 ? extent : k;
  if (count > extent)
    return op_failed(m, "dyn.topk", "the first %lld are requested, but the axis has %lld", (long long)count,
                      (long long)extent);
  for (int32_t n = 0; n < x->rank; n++) {
    sizes[n] = n == axis ? count : x->shape[n];
    if (n < axis) outer *= x->shape[n];
    if (n > axis) step *= x->shape[n];
  }
  Object *values = both == 1 ? NULL : tensor_of(m, x->type, x->rank, sizes, NULL);
  Object *places = both == 0 ? NULL : tensor_of(m, type, x->rank, sizes, NULL);
  int64_t *order = malloc((size_t)(2 * extent + 1) * sizeof *order);
  if (!order) no_memory(m, (size_t)(2 * extent) * sizeof *order);
  if (!order || (both != 1 && !values) || (both && !places)) {
    free(order), drop(m, values), drop(m, places);
    return 1;
  }
  for (int64_t row = 0; row < outer * step; row++) {
    int64_t start = row / step * extent * step + row % step, to = row / step * count * step + row % step;
    for (int64_t n = 0; n < extent; n++) order[n] = n;
    in_order(x, start, step, ascending, order, extent, order + extent);
    for (int64_t n = 0; n < count; n++) {
      if (values) put(TENSOR_OF(values), to + n * step, x, start + order[n] * step);
      if (places) put_whole(TENSOR_OF(places), to + n * step, order[n]);
    }
  }
  free(order);
  if (both == 2) out[1] = places;
  out[0] = both == 1 ? places : values;
  return 0;
}

static int argwhere(Machine *m, Object *const *in, Object **out) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t count = count_of(x), nonzero = 0;
  for (int64_t k = 0; k < count; k++) nonzero += number_at(x, k) != 0;
  Object *result = tensor_of(m, (Type){0, 32, 1}, 2, (int64_t[]){nonzero, x->rank}, NULL);
  if (!result) return 1;
  int32_t *to = TENSOR_OF(result)->data;
  for (int64_t k = 0; k < count; k++) {
    if (number_at(x, k) == 0) continue;
    for (int64_t axis = x->rank - 1, rest = k; axis >= 0; rest /= x->shape[axis--])
      to[axis] = (int32_t)(rest % x->shape[axis]);
    to += x->rank;
  }
  *out = result;
  return 0;
}

/* ---- sparse tensors: a matrix with a row of coordinates for each element, and a vector of elements */

static int dyn_sparse_to_dense(Machine *m, Object *const *in, Object **out) {
  const Tensor *at = TENSOR_OF(in[0]), *values = TENSOR_OF(in[2]);
  const char *name = "dyn.sparse_to_dense";
  int64_t sizes[MOST_AXES], rank = integers_of(in[1], sizes), rows = count_of(at) / rank;
  if (at->rank == 2 && at->shape[1] != rank)
    return op_failed(m, name, "each element has %lld coordinates, and the result %lld axes", (long long)at->shape[1],
                      (long long)rank);
  if (values->rank && count_of(values) != rows && count_of(values) != 1)
    return op_failed(m, name, "there are %lld elements, but %lld values", (long long)rows,
                      (long long)count_of(values));
  Object *result = sized(m, name, values->type, (int32_t)rank, sizes);
  if (!result) return 1;
  fill(TENSOR_OF(result), TENSOR_OF(in[3]));
  for (int64_t row = 0; row < rows; row++) {
    int64_t place = 0;
    for (int64_t axis = 0; axis < rank; axis++) {
      int64_t coordinate = whole_at(at, row * rank + axis);
      if (coordinate < 0 || coordinate >= sizes[axis]) {
        drop(m, result);
        return op_failed(m, name, "the element in row %lld is outside a tensor of shape %s", (long long)row,
                          shown(rank, sizes).text);
      }
      place = place * sizes[axis] + coordinate;
    }
    put(TENSOR_OF(result), place, values, count_of(values) == 1 ? 0 : row);
  }
  *out = result;
  return 0;
}

/* Sorts the elements by row, and adds a default one to each empty row. The results are the coordinates, the elements,
   and which rows were empty. */
static int sparse_fill_empty_rows(Machine *m, Object *const *in, Object **out) {
  const Tensor *at = TENSOR_OF(in[0]), *values = TENSOR_OF(in[1]), *shape = TENSOR_OF(in[2]);
  const char *name = "sparse_fill_empty_rows";
  int64_t rows = count_of(shape) ? whole_at(shape, 0) : 0, count = at->shape[0], axes = at->shape[1], empty = 0;
  if (rows < 0) return op_failed(m, name, "dense_shape has a negative number of rows, %lld", (long long)rows);
  if (values->shape[0] != count || shape->shape[0] != axes)
    return op_failed(m, name,
                      "sparse_indices %s must have a row for each of the %lld values and a column for each of the "
                      "%lld axes",
                      shown(2, at->shape).text, (long long)values->shape[0], (long long)shape->shape[0]);
  Object *which = tensor_of(m, (Type){6, 8, 1}, 1, &rows, NULL);
  if (!which) return 1;
  int64_t *next = malloc((size_t)(rows + 1) * sizeof *next); /* the index at which a row's next element is stored */
  if (!next) {
    drop(m, which), no_memory(m, (size_t)rows * sizeof *next);
    return 1;
  }
  memset(next, 0, (size_t)(rows + 1) * sizeof *next);
  for (int64_t k = 0; k < count; k++) {
    int64_t row = axes ? whole_at(at, k * axes) : 0;
    if (row < 0 || row >= rows) {
      free(next), drop(m, which);
      return op_failed(m, name, "an element is outside the %lld rows", (long long)rows);
    }
    next[row]++;
  }
  for (int64_t row = 0, total = 0; row < rows; row++) {
    int64_t own = next[row];
    ((uint8_t *)TENSOR_OF(which)->data)[row] = !own;
    next[row] = total;
    total += own ? own : 1;
    empty += !own;
  }
  int64_t sizes[] = {count + empty, axes};
  out[0] = tensor_of(m, at->type, 2, sizes, NULL);
  out[1] = out[0] ? tensor_of(m, values->type, 1, sizes, NULL) : NULL;
  if (!out[1]) {
    free(next), drop(m, which), clear(m, &out[0]);
    return 1;
  }
  out[2] = which;
  const Tensor *places = TENSOR_OF(out[0]), *filled = TENSOR_OF(out[1]);
  for (int64_t row = 0; row < rows; row++) {
    if (!((uint8_t *)TENSOR_OF(which)->data)[row]) continue;
    for (int64_t axis = 0; axis < axes; axis++) put_whole(places, next[row] * axes + axis, axis ? 0 : row);
    put(filled, next[row], TENSOR_OF(in[3]), 0);
  }
  for (int64_t k = 0; k < count; k++) {
    int64_t row = axes ? whole_at(at, k * axes) : 0, to = next[row]++;
    for (int64_t axis = 0; axis < axes; axis++) put(places, to * axes + axis, at, k * axes + axis);
    put(filled, to, values, k);
  }
  free(next);
  return 0;
}

/* Sums over the axes along which broadcasting from a computed shape would repeat elements. */
static int collapse_sum_to(Machine *m, Object *const *in, Object **out) {
  const Tensor *x = TENSOR_OF(in[0]);
  int64_t sizes[MOST_AXES], rank = integers_of(in[1], sizes), more = x->rank - rank, steps[MOST_AXES], step = 1;
  for (int64_t axis = 0; axis < rank; axis++)
    if (more < 0 || (sizes[axis] != 1 && sizes[axis] != x->shape[axis + more]))
      return op_failed(m, "collapse_sum_to", "broadcasting %s does not give %s", shown(rank, sizes).text,
                        shown(x->rank, x->shape).text);
  Object *result = sized(m, "collapse_sum_to", x->type, (int32_t)rank, sizes);
  if (!result) return 1;
  const Tensor *y = TENSOR_OF(result);
  int64_t total = count_of(y), count = count_of(x);
  double *sums = is_whole(x->type) ? NULL : calloc((size_t)total + 1, sizeof *sums);
  if (!is_whole(x->type) && !sums) return drop(m, result), no_memory(m, (size_t)total * sizeof *sums), 1;
  for (int64_t axis = x->rank - 1; axis >= 0; axis--) {
    steps[axis] = axis < more || sizes[axis - more] == 1 ? 0 : step;
    if (axis >= more) step *= sizes[axis - more];
  }
  memset(y->data, 0, (size_t)total * bytes_of(y->type, 0, NULL));
  for (int64_t k = 0; k < count; k++) {
    int64_t to = 0;
    for (int64_t axis = x->rank - 1, rest = k; axis >= 0; rest /= x->shape[axis--])
      to += rest % x->shape[axis] * steps[axis];
    if (sums)
      sums[to] += number_at(x, k);
    else
      put_whole(y, to, (int64_t)((uint64_t)whole_at(y, to) + (uint64_t)whole_at(x, k)));
  }
  for (int64_t k = 0; sums && k < total; k++) put_number(y, k, sums[k]);
  free(sums);
  *out = result;
  return 0;
}
