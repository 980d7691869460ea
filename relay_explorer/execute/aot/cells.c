/* ---- cells, and cycles of values

   Reference counting cannot free a cycle, because its values hold references to each other. Only a write into a cell
   can close a cycle, so the machine records all cells. From time to time, and at the end of a run, it traverses the
   values that are reachable from cells. Those with references from elsewhere stay, and so does all that is reachable
   from them; the rest is freed. CPython's garbage collector finds cycles in the same way. */

enum { FEW_CELLS = 10000 }; /* while a program runs, cycles are searched for only if there are more cells */

static void forget_cell(Machine *m, Object *cell) {
  size_t place = ((Cell *)cell)->place;
  Object *last = m->cells[--m->cell_count];
  m->cells[place] = last;
  ((Cell *)last)->place = place;
}

/* Creates an empty cell. */
static Object *bare_cell(Machine *m) {
  if (m->cell_count == m->most_cells) {
    size_t more = m->most_cells ? 2 * m->most_cells : 64;
    Object **grown = realloc(m->cells, more * sizeof *grown);
    if (!grown) return no_memory(m, more * sizeof *grown);
    m->cells = grown;
    m->most_cells = more;
  }
  Cell *result = (Cell *)object(m, sizeof(Cell), CELL, 1);
  if (!result) return NULL;
  result->content = NULL;
  result->place = m->cell_count;
  m->cells[m->cell_count++] = &result->head;
  return &result->head;
}

/* The values that are reachable from cells, each once. A value's mark is its index plus 1; `others` counts its
   references from outside the list. */
typedef struct { Object **value; int32_t *others; size_t count, most; } Reached;

static int reach(Reached *all, Object *value) {
  if (!value || value->uses <= 0 || value->mark || value->kind == TENSOR || value->kind == OUTSIDE) return 1;
  if (all->count == all->most) {
    size_t more = all->most ? 2 * all->most : 256;
    Object **values = realloc(all->value, more * sizeof *values);
    if (values) all->value = values;
    int32_t *others = values ? realloc(all->others, more * sizeof *others) : NULL;
    if (!others) return 0;
    all->others = others;
    all->most = more;
  }
  all->others[all->count] = value->uses;
  all->value[all->count++] = value;
  value->mark = (uint32_t)all->count;
  return 1;
}

/* Sets `others` to -1 for each value with references from elsewhere, and for all that is reachable from it. The
   remaining values are referenced only by each other: they are garbage. */
static void keep_reached(Reached *all) {
  for (size_t n = 0; n < all->count; n++)
    for (uint32_t k = 0; k < all->value[n]->count; k++) {
      Object *part = PART(all->value[n], k);
      if (part && part->mark) all->others[part->mark - 1]--;
    }
  size_t first = 0, last = 0; /* the part of `queue` whose parts must still be visited */
  Object **queue = malloc((all->count + 1) * sizeof *queue);
  for (size_t n = 0; n < all->count; n++)
    if (all->others[n] || !queue) {
      all->others[n] = -1;
      if (queue) queue[last++] = all->value[n];
    }
  for (; first < last; first++)
    for (uint32_t k = 0; k < queue[first]->count; k++) {
      Object *part = PART(queue[first], k);
      if (!part || !part->mark || all->others[part->mark - 1] < 0) continue;
      all->others[part->mark - 1] = -1;
      queue[last++] = part;
    }
  free(queue);
}

static void free_cycles(Machine *m) {
  Reached all = {NULL, NULL, 0, 0};
  int whole = 1;
  for (size_t n = 0; n < m->cell_count && whole; n++) whole = reach(&all, m->cells[n]);
  for (size_t n = 0; n < all.count && whole; n++)
    for (uint32_t k = 0; k < all.value[n]->count && whole; k++) whole = reach(&all, PART(all.value[n], k));
  if (whole) keep_reached(&all);
  size_t lost = 0; /* the unreachable cells; emptying them breaks every cycle */
  for (size_t n = 0; n < all.count; n++) {
    all.value[n]->mark = 0;
    if (whole && all.others[n] >= 0 && all.value[n]->kind == CELL) all.value[lost++] = keep(all.value[n]);
  }
  for (size_t n = 0; n < lost; n++) clear(m, &PART(all.value[n], 0));
  for (size_t n = 0; n < lost; n++) drop(m, all.value[n]);
  free(all.value);
  free(all.others);
  m->cells_left = m->cell_count;
}

/* Creates a cell in a running program, where each value is referenced by registers or by other values. */
static Object *new_cell(Machine *m) {
  if (m->cell_count > FEW_CELLS && m->cell_count > 2 * m->cells_left) free_cycles(m);
  return bare_cell(m);
}

/* ---- external functions: closures that capture one value, an Outside */

typedef int (*CallOutside)(void *context, Machine *, Object *const *arguments, Object **result);
typedef struct {
  Object head;
  CallOutside call;
  void (*done)(void *context);
  void *context;
  uint32_t arity;
  const Expected *result; /* the type of its result; NULL: not known yet */
} Outside;
enum { MAX_ARGUMENTS = 32 };

static void release_outside(Object *value) {
  Outside *it = (Outside *)value;
  if (it->done) it->done(it->context);
}

static int fits(Object *value, const Expected *wanted);
static const char *text_of(const Expected *wanted);

/* The code of an external function. Its registers are the arguments, followed by the captured Outside. */
static int call_outside(Machine *m, Object **r, int at) {
  (void)at;
  Object *arguments[MAX_ARGUMENTS], *result = NULL;
  uint32_t count = 0;
  for (; r[count]->kind != OUTSIDE; count++) arguments[count] = r[count];
  Outside *it = (Outside *)r[count];
  if (count != it->arity) return failed(m, "the function expects %u arguments, got %u", it->arity, count);
  int wrong = it->call(it->context, m, arguments, &result); /* it may call other functions, so registers may move */
  if (wrong && !m->error[0]) failed(m, "an external function failed without a message");
  if (!wrong && it->result && !fits(result, it->result))
    wrong = failed(m, "an external function must return `%s`", text_of(it->result));
  if (!wrong && !result) wrong = failed(m, "an external function returned no value");
  r = registers(m, 1);
  for (uint32_t k = 0; k <= count; k++) clear(m, &r[k]);
  if (!wrong) return returned(m, result);
  drop(m, result);
  return 1;
}
