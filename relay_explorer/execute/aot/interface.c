
/* ---- the interface: see the header */

API Machine *PREFIX_new(void) { return machine(); }

API void PREFIX_end(Machine *m) { end_machine(m); }

API const char *PREFIX_error(const Machine *m) { return m ? m->error : "there is no memory"; }

API int64_t PREFIX_live(const Machine *m) { return m->live; }

API int64_t PREFIX_memory(const Machine *m) { return m->memory; }

API Object *PREFIX_tensor(Machine *m, int type, int32_t rank, const int64_t *shape, const void *data) {
  Type of = {(uint8_t)(type >> 8), (uint8_t)(type & 255), 1};
  Object *made = tensor_of(m, of, rank, shape, NULL);
  if (made) memcpy(TENSOR_OF(made)->data, data, bytes_of(of, rank, shape));
  return made;
}

/* A value of parts that it takes over; NULL, and no part is left, where one is not what it must be. */
static Object *made_of(Machine *m, unsigned tag, uint32_t count, Object *const *given, const Expected *const *wanted) {
  int whole = 1;
  for (uint32_t k = 0; k < count && whole; k++) {
    whole = fits(given[k], wanted ? wanted[k] : &any);
    if (!whole && given[k]) failed(m, "field number %u must be `%s`", (unsigned)k, wanted[k]->text);
  }
  Object *made = whole ? parts(m, FIELDS, tag, count) : NULL;
  for (uint32_t k = 0; k < count; k++) {
    if (made)
      PART(made, k) = given[k];
    else
      drop(m, given[k]);
  }
  return made;
}

API Object *PREFIX_tuple(Machine *m, uint32_t count, Object *const *given) { return made_of(m, 0, count, given, NULL); }

API Object *PREFIX_keep(Object *value) { return keep(value); }

API void PREFIX_release(Machine *m, Object *value) { drop(m, value); }

API int PREFIX_constructor(const Object *value) { return value->kind == FIELDS ? value->tag : -1; }

API uint32_t PREFIX_count(const Object *value) { return value->kind == TENSOR ? 0 : value->count; }

API Object *PREFIX_part(Object *value, uint32_t number) {
  return number < PREFIX_count(value) ? PART(value, number) : NULL;
}

API int PREFIX_type(const Object *value) {
  if (value->kind != TENSOR) return -1;
  return TENSOR_OF(value)->type.code << 8 | TENSOR_OF(value)->type.bits;
}

API int32_t PREFIX_rank(const Object *value) { return value->kind == TENSOR ? TENSOR_OF(value)->rank : -1; }

API const int64_t *PREFIX_shape(const Object *value) { return value->kind == TENSOR ? TENSOR_OF(value)->shape : NULL; }

API const void *PREFIX_data(const Object *value) { return value->kind == TENSOR ? TENSOR_OF(value)->data : NULL; }

API int PREFIX_read(Machine *m, const int64_t *code, int64_t length, Object **results, int64_t wanted) {
  return read_values(m, code, length, results, wanted);
}

/* The result that is held, as numbers: how many there are, behind one that says whether it still is. */
API int64_t PREFIX_held(Machine *m, int64_t *to, int64_t room) {
  int lent;
  int64_t count = write_value(m->held, to + 1, room - 1, &lent) + 1;
  to[0] = lent || count > room;
  if (!count) failed(m, "there is no memory for the result");
  if (!to[0]) clear(m, &m->held);
  return count;
}

API void PREFIX_let_go(Machine *m) { clear(m, &m->held); }

API int PREFIX_call(Machine *m, Object *const *arguments, Object **result) {
  Object *given[MAIN_ARGUMENTS + 1];
  *result = NULL;
  for (uint32_t k = 0; k < MAIN_ARGUMENTS; k++)
    if (!fits(arguments[k], main_types[k]))
      return failed(m, "the argument `%%%s` must be `%s`", main_names[k], main_types[k]->text);
  for (uint32_t k = 0; k < MAIN_ARGUMENTS; k++) given[k] = keep(arguments[k]);
  return call(m, &functions[MAIN], given, result);
}

/* Runs the program on arguments that are numbers, and writes out its result; 0 where something went wrong. */
API int64_t PREFIX_go(Machine *m, const int64_t *code, int64_t length, int64_t *to, int64_t room) {
  Object *given[MAIN_ARGUMENTS + 1];
  if (read_values(m, code, length, given, MAIN_ARGUMENTS)) return 0;
  int wrong = PREFIX_call(m, given, &m->held);
  for (uint32_t k = 0; k < MAIN_ARGUMENTS; k++) drop(m, given[k]);
  return wrong ? 0 : PREFIX_held(m, to, room);
}
