/* PREFIX: the interface of a program that was compiled ahead of time.

   Link PREFIX_LIBRARY. It depends only on the C library.

     PREFIX *m = PREFIX_new();                  a machine owns a program's memory; only one thread may use it at a time
     PREFIX_value x = PREFIX_tensor(m, …);      arguments
     PREFIX_value result;
     if (PREFIX_run(m, x, &result)) puts(PREFIX_error(m));
     const float *y = PREFIX_data(result);      valid as long as `result`
     PREFIX_release(m, result);
     PREFIX_end(m);                             frees everything

   The caller owns each value that it creates or gets as a result, and must release it with `release`. A tuple and a
   constructor take ownership of their fields; `run` does not take ownership of its arguments. A function that creates
   a value returns NULL if there is no memory, and also if one of the fields is NULL. A value can be used only with
   the machine that created it. */

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
const char *PREFIX_error(const PREFIX *); /* the message of the last error */

/* Creates a tensor, and copies its elements, which `data` holds in row-major order. */
PREFIX_value PREFIX_tensor(PREFIX *, int type, int32_t rank, const int64_t *shape, const void *data);
PREFIX_value PREFIX_tuple(PREFIX *, uint32_t count, const PREFIX_value *fields);
PREFIX_value PREFIX_cell(PREFIX *, PREFIX_value content); /* a `ref`; its content is its only part */
CONSTRUCTORS
/* Runs the program. Returns 0, or another number if it failed. */
RUN
/* Accessors. A tensor has a type, rank, shape and data; other values have parts, which they own. */
int PREFIX_type(PREFIX_value);        /* -1: not a tensor */
int32_t PREFIX_rank(PREFIX_value);
const int64_t *PREFIX_shape(PREFIX_value);
const void *PREFIX_data(PREFIX_value);
int PREFIX_constructor(PREFIX_value); /* the constructor's tag; 0: a tuple; -1: neither */
uint32_t PREFIX_count(PREFIX_value);
PREFIX_value PREFIX_part(PREFIX_value, uint32_t number);

PREFIX_value PREFIX_keep(PREFIX_value); /* adds a reference, which must be released as well */
void PREFIX_release(PREFIX *, PREFIX_value);

/* Functions are values too. `apply` does not take ownership of the arguments, just like `run`. */
int PREFIX_arity(PREFIX_value); /* the number of arguments; -1: not a function */
int PREFIX_apply(PREFIX *, PREFIX_value function, const PREFIX_value *arguments, PREFIX_value *result);

/* Creates a value from a C function. `code` stores its result and returns 0, or returns the result of `fail`. `done`,
   unless it is NULL, is called when the last reference to the function is released. */
typedef int (*PREFIX_code)(void *context, PREFIX *, const PREFIX_value *arguments, PREFIX_value *result);
PREFIX_value PREFIX_function(PREFIX *, int arity, PREFIX_code code, void (*done)(void *context), void *context);
int PREFIX_fail(PREFIX *, const char *text); /* sets the error message, and returns 1 */

int64_t PREFIX_live(PREFIX *);         /* the number of live values */
int64_t PREFIX_memory(const PREFIX *); /* the bytes allocated from the system for values */

/* If the program is compiled with CLOCKED defined, it logs each kernel call: the kernel's number, the nanoseconds at
   which it began and ended, the number of tensors that follow, and the rank and sizes of each (none follow if all the
   kernel's sizes are static). `clocked` returns the length of the log; -1: there was no memory for part of it. It
   copies the log to `to` and clears it if there is `room` for it. Without CLOCKED it returns 0. */
int64_t PREFIX_clocked(PREFIX *, int64_t *to, int64_t room);
const char *PREFIX_kernel(int64_t number); /* the kernel's name; NULL: no kernel has that number */

#ifdef __cplusplus
}
#endif
#endif
