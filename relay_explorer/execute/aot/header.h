/* PREFIX: a program that was compiled ahead of time.

   Link PREFIX_LIBRARY. It needs the C library and nothing else.

     PREFIX *m = PREFIX_new();                  a machine: all memory of a program; one thread at a time uses it
     PREFIX_value x = PREFIX_tensor(m, …);      arguments
     PREFIX_value result;
     if (PREFIX_run(m, x, &result)) puts(PREFIX_error(m));
     const float *y = PREFIX_data(result);      lives as long as `result` does
     PREFIX_release(m, result);
     PREFIX_end(m);                             frees all

   A value belongs to whoever made it or got it as a result, and is given back with `release`. What a value is
   made of (a tuple's fields, a constructor's) goes over to the new value; arguments of `run` do not. Values
   come as NULL where there is no memory; what is made of a NULL is NULL too. Those of one machine are not for
   another. */

#ifndef PREFIX_H
#define PREFIX_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct Machine PREFIX;
typedef struct Object *PREFIX_value;

/* Element types. */
enum {
  PREFIX_int8 = 0x008, PREFIX_int16 = 0x010, PREFIX_int32 = 0x020, PREFIX_int64 = 0x040,
  PREFIX_uint8 = 0x108, PREFIX_uint16 = 0x110, PREFIX_uint32 = 0x120, PREFIX_uint64 = 0x140,
  PREFIX_float16 = 0x210, PREFIX_float32 = 0x220, PREFIX_float64 = 0x240,
  PREFIX_bfloat16 = 0x410, PREFIX_bool = 0x608
};

PREFIX *PREFIX_new(void);
void PREFIX_end(PREFIX *);
const char *PREFIX_error(const PREFIX *); /* what went wrong last */

/* A tensor; its elements, row by row, are copied. */
PREFIX_value PREFIX_tensor(PREFIX *, int type, int32_t rank, const int64_t *shape, const void *data);
PREFIX_value PREFIX_tuple(PREFIX *, uint32_t count, const PREFIX_value *fields);
PREFIX_value PREFIX_cell(PREFIX *, PREFIX_value content); /* a `ref`, which has its content as its part */
CONSTRUCTORS
/* Runs the program; not 0 where something went wrong. */
RUN
/* What a value is. A tensor has a type, rank, shape and data; others have parts, which belong to them. */
int PREFIX_type(PREFIX_value);        /* -1: it is not a tensor */
int32_t PREFIX_rank(PREFIX_value);
const int64_t *PREFIX_shape(PREFIX_value);
const void *PREFIX_data(PREFIX_value);
int PREFIX_constructor(PREFIX_value); /* 0: a tuple; -1: neither */
uint32_t PREFIX_count(PREFIX_value);
PREFIX_value PREFIX_part(PREFIX_value, uint32_t number);

PREFIX_value PREFIX_keep(PREFIX_value); /* one more holds it, and releases it */
void PREFIX_release(PREFIX *, PREFIX_value);

/* Functions are values too. What one is applied to stays the caller's, as with `run`. */
int PREFIX_arity(PREFIX_value); /* how many arguments it takes; -1: it is not a function */
int PREFIX_apply(PREFIX *, PREFIX_value function, const PREFIX_value *arguments, PREFIX_value *result);

/* A function in C as a value: `code` makes a value and gives 0, or says with `fail` what is wrong. `done`, unless
   it is NULL, is called when nobody holds the function any more. */
typedef int (*PREFIX_code)(void *context, PREFIX *, const PREFIX_value *arguments, PREFIX_value *result);
PREFIX_value PREFIX_function(PREFIX *, int arity, PREFIX_code code, void (*done)(void *context), void *context);
int PREFIX_fail(PREFIX *, const char *text); /* sets the error, and gives 1 */

int64_t PREFIX_live(PREFIX *);         /* how many values somebody holds */
int64_t PREFIX_memory(const PREFIX *); /* bytes that the system gave for values */

/* Where the program is compiled with CLOCKED defined, it writes each call of a kernel down: the kernel's number,
   the nanoseconds at which it began and ended, how many tensors follow, and of each its rank and sizes (of a
   kernel all of whose sizes are known none follow). These numbers are written to `to`, and forgotten, if there
   is `room` for them. Gives how many they are; -1: there was no memory for some. Otherwise it gives 0. */
int64_t PREFIX_clocked(PREFIX *, int64_t *to, int64_t room);
const char *PREFIX_kernel(int64_t number); /* what it is called; NULL: there is none of that number */

#ifdef __cplusplus
}
#endif
#endif
