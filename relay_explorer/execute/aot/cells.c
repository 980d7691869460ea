/* ---- cells, and circles of values

   Values are freed when nobody holds them, but those of a circle hold each other. Only what is written into a
   cell closes one. So all cells are known, and now and then, and when a run ends, what leads from cells back to
   them is looked at: what others hold stays, and so does all that leads from there; the rest is freed. */

enum { FEW_CELLS = 10000 }; /* fewer than these are left alone while a program runs */

static void forget_cell(Machine *m, Object *cell) {
  size_t place = ((Cell *)cell)->place;
  Object *last = m->cells[--m->cell_count];
  m->cells[place] = last;
  ((Cell *)last)->place = place;
}

/* A cell without a content. */
static Object *bare_cell(Machine *m) {
  if (m->cell_count == m->most_cells) {
    size_t more = m->most_cells ? 2 * m->most_cells : 64;
    Object **grown = realloc(m->cells, more * sizeof *grown);
    if (!grown) return no_memory(m, more * sizeof *grown);
    m->cells = grown;
    m->most_cells = more;
  }
  Cell *made = (Cell *)object(m, sizeof(Cell), CELL, 1);
  if (!made) return NULL;
  made->content = NULL;
  made->place = m->cell_count;
  m->cells[m->cell_count++] = &made->head;
  return &made->head;
}

/* All that leads on from cells, each value once: its mark is its place, counted from 1. */
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

/* Marks what others hold, and what leads on from there, as 0 others; the rest is held in circles alone. */
static void keep_reached(Reached *all) {
  for (size_t n = 0; n < all->count; n++)
    for (uint32_t k = 0; k < all->value[n]->count; k++) {
      Object *part = PART(all->value[n], k);
      if (part && part->mark) all->others[part->mark - 1]--;
    }
  size_t first = 0, last = 0; /* what is kept, and whose parts are to be kept, lies at the beginning */
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

static void free_circles(Machine *m) {
  Reached all = {NULL, NULL, 0, 0};
  int whole = 1;
  for (size_t n = 0; n < m->cell_count && whole; n++) whole = reach(&all, m->cells[n]);
  for (size_t n = 0; n < all.count && whole; n++)
    for (uint32_t k = 0; k < all.value[n]->count && whole; k++) whole = reach(&all, PART(all.value[n], k));
  if (whole) keep_reached(&all);
  size_t lost = 0; /* cells that nobody else holds; what they hold they hold no more, and no circle is left */
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

/* A cell of a program that runs: all its values are held by registers, or by each other. */
static Object *new_cell(Machine *m) {
  if (m->cell_count > FEW_CELLS && m->cell_count > 2 * m->cells_left) free_circles(m);
  return bare_cell(m);
}

/* ---- functions from outside: a closure that captured one value, which is this */

typedef int (*CallOutside)(void *context, Machine *, Object *const *arguments, Object **result);
typedef struct {
  Object head;
  CallOutside call;
  void (*done)(void *context);
  void *context;
  uint32_t arity;
  const Expected *result; /* what it gives; NULL: it is not known yet */
} Outside;
enum { MAX_ARGUMENTS = 32 };

static void let_outside_go(Object *value) {
  Outside *it = (Outside *)value;
  if (it->done) it->done(it->context);
}

static int fits(Object *value, const Expected *wanted);
static const char *text_of(const Expected *wanted);

/* The code of such a function: its registers are the arguments, and then what it captured. */
static int call_outside(Machine *m, Object **r, int at) {
  (void)at;
  Object *given[MAX_ARGUMENTS], *made = NULL;
  uint32_t count = 0;
  for (; r[count]->kind != OUTSIDE; count++) given[count] = r[count];
  Outside *it = (Outside *)r[count];
  if (count != it->arity) return failed(m, "the function expects %u arguments, got %u", it->arity, count);
  int wrong = it->call(it->context, m, given, &made); /* it may call others: the registers may have moved */
  if (wrong && !m->error[0]) failed(m, "a function from outside went wrong");
  if (!wrong && it->result && !fits(made, it->result))
    wrong = failed(m, "a function from outside must give `%s`", text_of(it->result));
  if (!wrong && !made) wrong = failed(m, "a function from outside gave nothing");
  r = registers(m, 1);
  for (uint32_t k = 0; k <= count; k++) clear(m, &r[k]);
  if (!wrong) return returned(m, made);
  drop(m, made);
  return 1;
}
