/* ---- values in and out, as a list of numbers; a value is written before its parts

     0 code bits rank data shape…            a tensor whose elements lie at an address; in, they are not copied
     1 kind tag count                        FIELDS or a CELL of the next `count` values
     2 k                                     number k of those again
     3 value                                 a function, which keeps it; out, it is to be kept by who reads it
     4 code bits rank bytes shape… elements… a tensor with its elements, in whole numbers of 8 bytes

   Out, what is large is at an address, and so is a function. */

enum { INLINE = 1 << 16 }; /* bytes of the elements of a tensor that is written out whole */

typedef struct { Object *whole; uint32_t next; } Open; /* a value, and which of its parts comes next */

static Object *read_tensor(Machine *m, const int64_t *item, int64_t *at) {
  Type type = {(uint8_t)item[1], (uint8_t)item[2], 1};
  int32_t rank = (int32_t)item[3];
  const int64_t *shape = item + 5;
  *at += 5 + rank;
  void *data = (void *)(intptr_t)item[4];
  /* A function may hold what it is given for longer than a run. */
  if (item[0] == 0 && !FUNCTIONS_GO_OUT) return tensor_of(m, type, rank, shape, data);
  Object *value = tensor_of(m, type, rank, shape, NULL);
  if (item[0] == 0) {
    if (value) memcpy(TENSOR_OF(value)->data, data, bytes_of(type, rank, shape));
    return value;
  }
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
      value = item[1] == CELL ? bare_cell(m) : parts(m, (int)item[1], (unsigned)item[2], (uint32_t)item[3]);
      if (value) {
        memset(&PART(value, 0), 0, (size_t)item[3] * sizeof(Object *));
        opens = item[3] > 0;
        made[count++] = value;
      }
      at += 4;
    } else if (item[0] == 2) {
      value = keep(made[item[1]]);
      at += 2;
    } else if (item[0] == 3) {
      value = keep((Object *)(intptr_t)item[1]);
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
    while (open && waiting[open - 1].next == waiting[open - 1].whole->count) open--;
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
      head[count++] = 3, head[count++] = (int64_t)(intptr_t)item;
      *lent = 1;
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

struct Expected {
  const char *text;
  uint8_t kind; /* one of the kinds of values; ANY: it cannot be told */
  Type type;
  int32_t rank;
  const int64_t *shape; /* -1: any size */
  uint16_t first, last; /* constructors */
  uint32_t count;       /* of a tuple; of a function, how many arguments */
  const Expected *const *parts; /* of a tuple, a cell; of a function, of its arguments and its result */
  const Expected *const *const *made; /* of a data type that holds other types, by constructor, of its fields */
};
enum { ANY = 255 };
static const Expected any = {"any", ANY, {0, 0, 0}, 0, NULL, 0, 0, 0, NULL, NULL};

static int fits_function(const Object *value, const Expected *wanted);

/* Whether a value is of a type, apart from its parts. */
static int looks_like(const Object *value, const Expected *wanted) {
  if (!value) return 0;
  if (wanted->kind == ANY) return 1;
  if (value->kind != wanted->kind) return 0;
  if (value->kind == CLOSURE) return fits_function(value, wanted);
  if (value->kind == TENSOR) {
    const Tensor *array = TENSOR_OF(value);
    if (memcmp(&array->type, &wanted->type, sizeof(Type)) || array->rank != wanted->rank) return 0;
    for (int32_t k = 0; k < wanted->rank; k++)
      if (wanted->shape[k] >= 0 && wanted->shape[k] != array->shape[k]) return 0;
  } else if (value->kind == FIELDS) {
    if (value->tag < wanted->first || value->tag > wanted->last) return 0;
    if (!wanted->first && value->count != wanted->count) return 0;
  }
  return 1;
}

/* What the parts of a value must be. NULL: nothing is said of them, or they were looked at when it was made. */
static const Expected *const *of_parts(const Object *value, const Expected *wanted) {
  if (value->kind == CELL || (value->kind == FIELDS && !wanted->first)) return wanted->parts;
  return value->kind == FIELDS && wanted->made ? wanted->made[value->tag - wanted->first] : NULL;
}

typedef struct { Object *value; const Expected *wanted; } Question;
typedef struct { Question few[32], *all; size_t count, most; } Questions;

static int ask(Questions *q, Object *value, const Expected *wanted) {
  if (q->count == q->most) {
    Question *grown = realloc(q->all == q->few ? NULL : q->all, 2 * q->most * sizeof *grown);
    if (!grown) return 0;
    if (q->all == q->few) memcpy(grown, q->few, sizeof q->few);
    q->all = grown;
    q->most *= 2;
  }
  q->all[q->count++] = (Question){value, wanted};
  return 1;
}

/* Whether a value is of a type, with all that it is made of. The mark of a value says where its question is among
   those that are answered: it may be a part of several, and in a circle of itself. */
static int fits(Object *value, const Expected *wanted) {
  if (!looks_like(value, wanted)) return 0;
  if (wanted->kind == ANY || !of_parts(value, wanted)) return 1;
  Questions open = {.count = 0, .most = 32}, answered = {.count = 0, .most = 32};
  open.all = open.few, answered.all = answered.few;
  int right = ask(&open, value, wanted);
  while (right && open.count) {
    Question next = open.all[--open.count];
    right = looks_like(next.value, next.wanted);
    const Expected *const *parts = right && next.wanted->kind != ANY ? of_parts(next.value, next.wanted) : NULL;
    if (!parts || (next.value->mark && answered.all[next.value->mark - 1].wanted == next.wanted)) continue;
    right = ask(&answered, next.value, next.wanted);
    next.value->mark = (uint32_t)answered.count;
    for (uint32_t k = 0; k < next.value->count && right; k++)
      right = ask(&open, PART(next.value, k), parts[k]);
  }
  for (size_t n = 0; n < answered.count; n++) answered.all[n].value->mark = 0;
  if (open.all != open.few) free(open.all);
  if (answered.all != answered.few) free(answered.all);
  return right;
}

/* ---- a machine's life */

static Machine *machine(void) { return calloc(1, sizeof(Machine)); }

static void end_machine(Machine *m) {
  if (!m) return;
  for (size_t k = 0; k < m->block_count; k++) free(m->blocks[k]);
  free(m->blocks);
  free(m->cells);
  free(m->stack);
  free(m->frames);
  free(m->log);
  free(m);
}

/* Runs a function on arguments, which it takes over; those that a closure captured come behind them. */
static int call(Machine *m, const Function *callee, Object *const *arguments, Object *closure, Object **result) {
  size_t depth = m->depth;
  uint32_t count = callee->arguments - (closure ? closure->count : 0);
  if (!depth) m->error[0] = raised[0] = 0;
  *result = NULL;
  Object **r = enter(m, callee);
  if (!r) {
    for (uint32_t k = 0; k < count; k++) drop(m, arguments[k]);
    return 1;
  }
  if (count) memcpy(r, arguments, count * sizeof *r);
  for (uint32_t k = 0; closure && k < closure->count; k++) r[count + k] = keep(PART(closure, k));
  int wrong = run(m, depth);
  if (!wrong) *result = m->result;
  if (!depth && m->cell_count > m->cells_left) free_circles(m);
  return wrong;
}
