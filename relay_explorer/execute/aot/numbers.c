/* ---- access to single elements, of any element type */

#include <math.h>

static double of_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, part = bits & 1023;
  double size = exponent == 31 ? (part ? NAN : INFINITY)
                : exponent     ? ldexp(1024 + part, exponent - 25)
                               : ldexp(part, -24);
  return bits >> 15 ? -size : size;
}

/* Rounds to the nearest, ties to even. */
static uint16_t to_half(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (value != value) return sign | 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent = size < 0x1p-14 ? -14 : ilogb(size);
  /* The leading bit of the significand adds one to the exponent; rounding up to the next power of two adds another. */
  return sign | (uint16_t)((exponent + 14) * 1024 + (int)rint(ldexp(size, 10 - exponent)));
}

static double of_bfloat(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static uint16_t to_bfloat(double number) {
  float value = (float)number;
  uint32_t wide;
  memcpy(&wide, &value, sizeof wide);
  if (value != value) return (uint16_t)(wide >> 16 | 64);
  return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

#define WHOLE_TYPES(X) \
  X(0x008, int8_t) X(0x010, int16_t) X(0x020, int32_t) X(0x040, int64_t) \
  X(0x108, uint8_t) X(0x110, uint16_t) X(0x120, uint32_t) X(0x140, uint64_t)
enum { BOOL = 0x608, HALF = 0x210, FLOAT = 0x220, DOUBLE = 0x240, BFLOAT = 0x410, UINT64 = 0x140 };

static inline int type_number(Type type) { return type.code << 8 | type.bits; }
static inline int is_whole(Type type) { return type.code < 2 || type.code == 6; }

static double number_at(const Tensor *x, int64_t k) {
  const void *data = x->data;
  switch (type_number(x->type)) {
#define READ(number, type) case number: return (double)((const type *)data)[k];
    WHOLE_TYPES(READ) READ(BOOL, uint8_t) READ(FLOAT, float) READ(DOUBLE, double)
#undef READ
    case HALF: return of_half(((const uint16_t *)data)[k]);
    case BFLOAT: return of_bfloat(((const uint16_t *)data)[k]);
  }
  return NAN;
}

/* Reads an element as an integer; a floating-point number is truncated. */
static int64_t whole_at(const Tensor *x, int64_t k) {
  const void *data = x->data;
  switch (type_number(x->type)) {
#define READ(number, type) case number: return (int64_t)((const type *)data)[k];
    WHOLE_TYPES(READ) READ(BOOL, uint8_t)
#undef READ
  }
  double value = number_at(x, k);
  return value > -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static void put_whole(const Tensor *x, int64_t k, int64_t value);

static void put_number(const Tensor *x, int64_t k, double value) {
  switch (type_number(x->type)) {
    case HALF: ((uint16_t *)x->data)[k] = to_half(value); return;
    case FLOAT: ((float *)x->data)[k] = (float)value; return;
    case DOUBLE: ((double *)x->data)[k] = value; return;
    case BFLOAT: ((uint16_t *)x->data)[k] = to_bfloat(value); return;
    case BOOL: ((uint8_t *)x->data)[k] = value != 0; return;
    case UINT64: ((uint64_t *)x->data)[k] = value >= 0x1p63 && value < 0x1p64 ? (uint64_t)value
                 : value > -0x1p63 && value < 0x1p63 ? (uint64_t)(int64_t)value : (uint64_t)1 << 63; return;
  }
  if (is_whole(x->type)) put_whole(x, k, value > -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN);
}

static void put_whole(const Tensor *x, int64_t k, int64_t value) {
  switch (type_number(x->type)) {
#define WRITE(number, type) case number: ((type *)x->data)[k] = (type)value; return;
    WHOLE_TYPES(WRITE)
#undef WRITE
    case BOOL: ((uint8_t *)x->data)[k] = value != 0; return;
  }
  if (!is_whole(x->type)) put_number(x, k, (double)value);
}

/* Copies one element to another tensor, and converts it to that tensor's type. */
static void put(const Tensor *to, int64_t k, const Tensor *from, int64_t at) {
  size_t bytes = (to->type.bits + 7u) / 8;
  if (type_number(to->type) == type_number(from->type))
    memcpy((char *)to->data + (size_t)k * bytes, (const char *)from->data + (size_t)at * bytes, bytes);
  else if (is_whole(from->type) && (is_whole(to->type) || type_number(from->type) != UINT64))
    put_whole(to, k, whole_at(from, at));
  else
    put_number(to, k, number_at(from, at));
}

/* Whether one element is sorted before another; NaN is sorted last. */
static int before(const Tensor *x, int64_t a, int64_t b) {
  if (type_number(x->type) == UINT64) return ((const uint64_t *)x->data)[a] < ((const uint64_t *)x->data)[b];
  if (is_whole(x->type)) return whole_at(x, a) < whole_at(x, b);
  double left = number_at(x, a), right = number_at(x, b);
  return left < right || (right != right && left == left);
}
