
/* ---- the interface, which the header documents */

API Machine *PREFIX_new(void) { return machine(); }

API void PREFIX_end(Machine *m) { end_machine(m); }

API const char *PREFIX_error(const Machine *m) { return m ? m->error : "out of memory"; }

API int64_t PREFIX_live(Machine *m) {
  if (!m) return 0;
  if (!m->depth && m->cell_count) free_cycles(m);
  return m->live;
}

API int PREFIX_fail(Machine *m, const char *text) { return failed(m, "%s", text); }

API int64_t PREFIX_memory(const Machine *m) { return m ? m->memory : 0; }

API const char *PREFIX_kernel(int64_t number) {
  return number >= 0 && number < KERNELS ? kernel_table[number].name : NULL;
}

API int64_t PREFIX_clocked(Machine *m, int64_t *to, int64_t room) {
  if (!m) return 0;
  int64_t count = m->log_lost ? -1 : (int64_t)m->logged;
  if (count > room) return count;
  if (count > 0) memcpy(to, m->log, (size_t)count * sizeof *to);
  m->logged = 0;
  m->log_lost = 0;
  return count;
}

/* Returns why a tensor cannot be created; NULL: it can. */
static const char *problem_of(int type, int32_t rank, const int64_t *shape, const void *data) {
  static const int types[] = {0x008, 0x010, 0x020, 0x040, 0x108, 0x110, 0x120, 0x140, 0x210, 0x220, 0x240, 0x410, 0x608};
  size_t index = 0, elements = 1;
  while (index < sizeof types / sizeof *types && types[index] != type) index++;
  if (index == sizeof types / sizeof *types) return "its element type is not one of the header's";
  if (rank < 0 || rank > 64) return "its rank must be between 0 and 64";
  if (rank && !shape) return "its shape is NULL";
  for (int32_t k = 0; k < rank; k++) {
    if (shape[k] < 0) return "its shape has a negative size";
    elements = shape[k] ? elements : 0;
  }
  return elements && !data ? "its data is NULL" : NULL;
}

API Object *PREFIX_tensor(Machine *m, int type, int32_t rank, const int64_t *shape, const void *data) {
  const char *wrong = problem_of(type, rank, shape, data);
  if (wrong) failed(m, "the tensor cannot be created: %s", wrong);
  if (wrong || !m) return NULL;
  Type of = {(uint8_t)(type >> 8), (uint8_t)(type & 255), 1};
  Object *result = tensor_of(m, of, rank, shape, NULL);
  if (result && data) memcpy(TENSOR_OF(result)->data, data, bytes_of(of, rank, shape));
  return result;
}

/* Creates a value from parts, of which it takes ownership. If one has the wrong type, releases all and returns NULL. */
static Object *from_parts(Machine *m, unsigned tag, uint32_t count, Object *const *fields,
                          const Expected *const *wanted) {
  int whole = 1;
  for (uint32_t k = 0; k < count && whole; k++) {
    whole = fits(fields[k], wanted ? wanted[k] : &any);
    if (!whole && fields[k]) failed(m, "field number %u must be `%s`", (unsigned)k, wanted[k]->text);
  }
  Object *result = whole && m ? parts(m, FIELDS, tag, count) : NULL;
  for (uint32_t k = 0; k < count; k++) {
    if (result)
      PART(result, k) = fields[k];
    else if (m)
      drop(m, fields[k]);
  }
  return result;
}

API Object *PREFIX_tuple(Machine *m, uint32_t count, Object *const *fields) {
  return from_parts(m, 0, count, fields, NULL);
}

API Object *PREFIX_cell(Machine *m, Object *content) {
  Object *result = content && m ? bare_cell(m) : NULL;
  if (result)
    PART(result, 0) = content;
  else if (m)
    drop(m, content);
  return result;
}

API Object *PREFIX_keep(Object *value) { return value ? keep(value) : NULL; }

API void PREFIX_release(Machine *m, Object *value) {
  if (m) drop(m, value);
}

static int is(const Object *value, int kind) { return value && value->kind == kind; }

API int PREFIX_constructor(const Object *value) { return is(value, FIELDS) ? value->tag : -1; }

API uint32_t PREFIX_count(const Object *value) {
  return is(value, FIELDS) || is(value, CELL) ? value->count : 0;
}

API Object *PREFIX_part(Object *value, uint32_t number) {
  return number < PREFIX_count(value) ? PART(value, number) : NULL;
}

API int PREFIX_type(const Object *value) {
  if (!is(value, TENSOR)) return -1;
  return TENSOR_OF(value)->type.code << 8 | TENSOR_OF(value)->type.bits;
}

API int32_t PREFIX_rank(const Object *value) { return is(value, TENSOR) ? TENSOR_OF(value)->rank : -1; }

API const int64_t *PREFIX_shape(const Object *value) { return is(value, TENSOR) ? TENSOR_OF(value)->shape : NULL; }

API const void *PREFIX_data(const Object *value) { return is(value, TENSOR) ? TENSOR_OF(value)->data : NULL; }

API int PREFIX_read(Machine *m, const int64_t *code, int64_t length, Object **results, int64_t wanted) {
  return read_values(m, code, length, results, wanted);
}

/* Writes the last result as integers, after one that says whether the machine still holds it, and returns their
   number. The machine holds it until `let_go` if there was not enough room, or if the integers contain addresses. */
API int64_t PREFIX_held(Machine *m, int64_t *to, int64_t room) {
  int lent;
  int64_t count = write_value(m->held, to + 1, room - 1, &lent) + 1;
  to[0] = lent || count > room;
  if (!count) failed(m, "out of memory for the result");
  if (!to[0]) clear(m, &m->held);
  return count;
}

API void PREFIX_let_go(Machine *m) { clear(m, &m->held); }

static int run_main(Machine *m, Object *const *arguments, Object **result, int look) {
  Object *owned[MAIN_ARGUMENTS + 1];
  *result = NULL;
  for (uint32_t k = 0; k < MAIN_ARGUMENTS && look; k++)
    if (!fits(arguments[k], main_types[k]))
      return failed(m, "the argument `%%%s` must be `%s`", main_names[k], main_types[k]->text);
  if (!m) return 1;
  for (uint32_t k = 0; k < MAIN_ARGUMENTS; k++) owned[k] = keep(arguments[k]);
  return call(m, &functions[MAIN], owned, NULL, result);
}

/* Runs the program on arguments from Python, which has checked all but the results of functions. */
API int PREFIX_call(Machine *m, Object *const *arguments, Object **result) {
  return run_main(m, arguments, result, FUNCTIONS_GO_OUT);
}

/* ---- functions as values */

static uint32_t arity_of(const Object *closure) {
  if (closure->tag == FROM_OUTSIDE) return ((Outside *)PART(closure, 0))->arity;
  return functions[closure->tag].arguments - closure->count;
}

static const char *text_of(const Expected *wanted) { return wanted->text; }

/* Equal types are the same object, so pointers are compared. The first check of an external function fixes the type
   that its result must have. */
static int fits_function(const Object *value, const Expected *wanted) {
  if (arity_of(value) != wanted->count) return 0;
  if (value->tag == FROM_OUTSIDE) {
    Outside *it = (Outside *)PART(value, 0);
    if (!it->result) it->result = wanted->parts[wanted->count];
    return it->result == wanted->parts[wanted->count];
  }
  const Function *it = &functions[value->tag];
  for (uint32_t k = 0; k <= wanted->count && it->types; k++) {
    const Expected *own = it->types[k < wanted->count ? k : it->arguments];
    if (own != wanted->parts[k] && own != &any && wanted->parts[k] != &any) return 0;
  }
  return 1;
}

API int PREFIX_arity(const Object *value) { return is(value, CLOSURE) ? (int)arity_of(value) : -1; }

API int PREFIX_apply(Machine *m, Object *function, Object *const *arguments, Object **result) {
  Object *owned[MAX_ARGUMENTS];
  *result = NULL;
  if (!m || !is(function, CLOSURE)) return failed(m, "the applied value is not a function");
  uint32_t count = arity_of(function);
  if (count > MAX_ARGUMENTS)
    return failed(m, "a function of more than %d arguments cannot be called", (int)MAX_ARGUMENTS);
  const Function *callee = &functions[function->tag];
  for (uint32_t k = 0; k < count; k++) {
    if (!fits(arguments[k], callee->types ? callee->types[k] : &any))
      return failed(m, "argument %u of the function must be `%s`", (unsigned)k,
                    callee->types ? callee->types[k]->text : "any");
    owned[k] = arguments[k];
  }
  Function whole = *callee;
  if (function->tag == FROM_OUTSIDE) whole.arguments = count + 1;
  keep(function);
  for (uint32_t k = 0; k < count; k++) keep(owned[k]);
  int wrong = call(m, &whole, owned, function, result);
  drop(m, function);
  return wrong;
}

API Object *PREFIX_function(Machine *m, int arity, CallOutside code, void (*done)(void *), void *context) {
  if (arity < 0 || arity >= MAX_ARGUMENTS)
    failed(m, "an external function takes 0 to %d arguments, not %d", (int)MAX_ARGUMENTS - 1, arity);
  else if (!code)
    failed(m, "an external function has no code");
  if (!m || !code || arity < 0 || arity >= MAX_ARGUMENTS) return NULL;
  Object *result = parts(m, CLOSURE, FROM_OUTSIDE, 1);
  Outside *it = result ? (Outside *)object(m, sizeof(Outside), OUTSIDE, 0) : NULL;
  if (!it) {
    if (result) PART(result, 0) = NULL, drop(m, result);
    return NULL;
  }
  *it = (Outside){it->head, code, done, context, (uint32_t)arity, NULL};
  PART(result, 0) = &it->head;
  return result;
}

/* Writes a value as integers, and returns how many it needs. */
API int64_t PREFIX_write(Object *value, int64_t *to, int64_t room) {
  int lent;
  return write_value(value, to, room, &lent);
}

/* Runs the program, or a function, on arguments encoded as integers, and writes its result in the same form. Returns
   0 if it failed. */
API int64_t PREFIX_go(Machine *m, Object *function, const int64_t *code, int64_t length, int64_t *to, int64_t room) {
  enum { MOST = MAIN_ARGUMENTS > MAX_ARGUMENTS ? MAIN_ARGUMENTS : MAX_ARGUMENTS };
  Object *arguments[MOST + 1], *result;
  uint32_t count = function ? arity_of(function) : MAIN_ARGUMENTS;
  if (read_values(m, code, length, arguments, count)) return 0;
  int wrong = function ? PREFIX_apply(m, function, arguments, &result) : PREFIX_call(m, arguments, &result);
  for (uint32_t k = 0; k < count; k++) drop(m, arguments[k]);
  m->held = result;
  return wrong ? 0 : PREFIX_held(m, to, room);
}
