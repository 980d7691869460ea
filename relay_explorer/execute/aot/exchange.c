/* ---- values as lists of 64-bit integers, in which Python and the program exchange them, in pre-order

     0 code bits rank data shape…            a tensor; `data` is the address of its elements; input is not copied
     1 kind tag count                        FIELDS or a CELL; the next `count` values are its parts
     2 k                                     a reference to the k-th item of kind 1, for values that are shared
     3 value                                 a function, by address; the reader of an output must add a reference
     4 code bits rank bytes shape… elements… a tensor with its elements, padded to a multiple of 8 bytes

   Output holds small tensors whole (4), and large ones by address (0). */

enum { INLINE = 1 << 16 }; /* the most bytes of elements that are written inline */

typedef struct { Object *whole; uint32_t next; } Open; /* a value, and the index of the next of its parts */

static Object *read_tensor(Machine *m, const int64_t *item, int64_t *at) {
  Type type = {(uint8_t)item[1], (uint8_t)item[2], 1};
  int32_t rank = (int32_t)item[3];
  const int64_t *shape = item + 5;
  *at += 5 + rank;
  void *data = (void *)(intptr_t)item[4];
  /* A function may hold its arguments for longer than a run, so it gets a copy. */
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

/* Reads `wanted` values; if that fails, releases those it has read. */
static int read_values(Machine *m, const int64_t *code, int64_t length, Object **results, int64_t wanted) {
  Object *some[64];
  Open few[64];
  size_t most = (size_t)length / 4 + 1, open = 0;
  Object **items = most > 64 ? malloc(most * sizeof *items) : some;
  Open *waiting = most > 64 ? malloc(most * sizeof *waiting) : few;
  int64_t count = 0, done = 0, problem = !items || !waiting;
  if (problem) failed(m, "out of memory for the arguments");
  for (int64_t at = 0; at < length && !problem;) {
    const int64_t *item = code + at;
    Object *value = NULL;
    int opens = 0;
    if (item[0] == 1) {
      value = item[1] == CELL ? bare_cell(m) : parts(m, (int)item[1], (unsigned)item[2], (uint32_t)item[3]);
      if (value) {
        memset(&PART(value, 0), 0, (size_t)item[3] * sizeof(Object *));
        opens = item[3] > 0;
        items[count++] = value;
      }
      at += 4;
    } else if (item[0] == 2) {
      value = keep(items[item[1]]);
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
  if (items != some) free(items);
  if (waiting != few) free(waiting);
  (void)wanted;
  return problem != 0;
}

/* Writes a value as integers, at most `room` of them, and returns how many it needs; -1: out of memory. Sets `lent` if
   the output contains addresses, so that the value must live until they are read. */
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
      if (item->uses > 0) { /* all machines share the program's constants, so these cannot be marked */
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

/* ---- expected types of values from outside */

struct Expected {
  const char *text;
  uint8_t kind; /* one of the kinds of values; ANY: it is not checked */
  Type type;
  int32_t rank;
  const int64_t *shape; /* -1: any size */
  uint16_t first, last; /* constructors */
  uint32_t count;       /* of a tuple, its fields; of a function, its arguments */
  const Expected *const *parts; /* of a tuple, a cell; of a function, of its arguments and its result */
  const Expected *const *const *fields; /* of a data type with type parameters: by constructor, of its fields */
};
enum { ANY = 255 };
static const Expected any = {"any", ANY, {0, 0, 0}, 0, NULL, 0, 0, 0, NULL, NULL};

static int fits_function(const Object *value, const Expected *wanted);

/* Whether a value has a type, without regard to its parts. */
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

/* The expected types of a value's parts. NULL: they are not checked, or were checked when it was created. */
static const Expected *const *of_parts(const Object *value, const Expected *wanted) {
  if (value->kind == CELL || (value->kind == FIELDS && !wanted->first)) return wanted->parts;
  return value->kind == FIELDS && wanted->fields ? wanted->fields[value->tag - wanted->first] : NULL;
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

/* Whether a value and all its parts have a type. The mark of a value is the index of its answered question plus 1,
   because a value may be part of several others, and a cycle contains itself. */
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

/* ---- creating and freeing machines */

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

/* Runs a function on arguments, of which it takes ownership; the values that a closure captured follow them. */
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
  if (!depth && m->cell_count > m->cells_left) free_cycles(m);
  return wrong;
}
