// Definitions of CUDA C for the emulated GPU, included before every kernel. They cover only what TVM's code generator
// emits.
#pragma once
#include "gpu.h"
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

// -- functions and memory

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __align__(size) alignas(size)
#define __CUDA_ARCH__ 800
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("rx_shared")))  // only one block runs at a time
#define __restrict__
#define CUDART_INF_F HUGE_VALF
#define CUDART_NAN_F NAN
#define CUDART_INF HUGE_VAL
#define CUDART_NAN double(NAN)

#define RX_RAW(type, name, count) /* an array of a type with a constructor */ \
  char rx_raw_##name[(count) * sizeof(type)];                              \
  type *const name = (type *)rx_raw_##name

extern "C" char __start_rx_shared[], __stop_rx_shared[];
static __attribute__((section("rx_shared"), used)) char rx_some_shared[16];  // so that the section exists
extern "C" void rx_shared_range(char **start, char **end) {
  *start = __start_rx_shared;
  *end = __stop_rx_shared;
}

#define RX_UNSEEN __attribute__((no_sanitize("thread")))  // not recorded as an access of the kernel

template <class T> RX_UNSEEN static T rx_argument(void *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::is_pointer_v<T>) value = reinterpret_cast<T>(rx_here((void *)value));
  return value;
}
template <class... A, std::size_t... N>
RX_UNSEEN static void rx_apply(void (*kernel)(A...), void **arguments, std::index_sequence<N...>) {
  kernel(rx_argument<A>(arguments[N])...);
}
template <class... A> RX_UNSEEN static void rx_run(void (*kernel)(A...), void **arguments) {
  rx_apply(kernel, arguments, std::index_sequence_for<A...>());
}
// Defines the entry point of a kernel, and its facts: the maximum threads per block, the bytes of shared memory, and
// the names of the parameters.
#define RX_KERNEL(name, threads, shared, ...)                                                      \
  extern "C" RX_UNSEEN void rx_run_##name(void **arguments) { rx_run(name, arguments); }                     \
  static const char *const rx_names_##name[] = {__VA_ARGS__};                                      \
  extern "C" const rx_facts rx_facts_##name;                                                       \
  const rx_facts rx_facts_##name = {threads, shared, sizeof rx_names_##name / sizeof(char *), rx_names_##name};

// -- barriers, and shuffles between the threads of a warp

#define __syncthreads() rx_barrier(__LINE__)
#define __syncwarp(...) rx_warp(~0u, __LINE__)
#define __activemask() rx_active()

template <class T> static T rx_given(unsigned mask, T value, unsigned source, int line) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = rx_exchange(mask, bits, source, line);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
static inline unsigned rx_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
static inline unsigned rx_within(unsigned width, int to) {  // lane `to`, or its own lane outside the segment
  unsigned lane = rx_lane(), first = lane / width * width;
  return to < int(first) || to >= int(first + width) ? lane : unsigned(to);
}
#define __shfl_sync(mask, value, from, width) \
  rx_given(mask, value, rx_lane() / (width) * (width) + unsigned(from) % (width), __LINE__)
#define __shfl_down_sync(mask, value, by, width) \
  rx_given(mask, value, rx_within(width, int(rx_lane()) + int(by)), __LINE__)
#define __shfl_up_sync(mask, value, by, width) \
  rx_given(mask, value, rx_within(width, int(rx_lane()) - int(by)), __LINE__)
#define __shfl_xor_sync(mask, value, by, width) \
  rx_given(mask, value, rx_within(width, int(rx_lane()) ^ int(by)), __LINE__)

template <class T> RX_UNSEEN static T atomicAdd(T *at, T value) {
  rx_atomic(at, sizeof(T));
  T old = *(volatile T *)at;
  *(volatile T *)at = old + value;
  return old;
}
template <class T> static T __ldg(const T *at) { return *at; }

#include "half.h"

// -- vectors

#define RX_VECTORS(type, name)                                                                              \
  struct name##1 { type x; };                                                                               \
  struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                                  \
  struct name##3 { type x, y, z; };                                                                         \
  struct alignas(sizeof(type) == 8 ? 16 : 4 * sizeof(type)) name##4 { type x, y, z, w; };                   \
  static inline name##1 make_##name##1(type x) { return {x}; }                                              \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                   \
  static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                        \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
RX_VECTORS(signed char, char) RX_VECTORS(unsigned char, uchar) RX_VECTORS(short, short) RX_VECTORS(unsigned short, ushort)
RX_VECTORS(int, int) RX_VECTORS(unsigned, uint) RX_VECTORS(long, long) RX_VECTORS(unsigned long, ulong)
RX_VECTORS(long long, longlong) RX_VECTORS(unsigned long long, ulonglong) RX_VECTORS(float, float) RX_VECTORS(double, double)

// -- arithmetic

template <class A, class B> using rx_both = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;
template <class A, class B> static inline rx_both<A, B> max(A a, B b) {
  using T = rx_both<A, B>;
  if constexpr (std::is_floating_point_v<T>) return std::fmax(T(a), T(b));
  else return T(a) < T(b) ? T(b) : T(a);
}
template <class A, class B> static inline rx_both<A, B> min(A a, B b) {
  using T = rx_both<A, B>;
  if constexpr (std::is_floating_point_v<T>) return std::fmin(T(a), T(b));
  else return T(b) < T(a) ? T(b) : T(a);
}
using std::isfinite, std::isinf, std::isnan;
static inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __powf powf
static inline float __fdividef(float x, float y) { return x / y; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __dp4a(int a, int b, int sum) {
  signed char x[4], y[4];
  std::memcpy(x, &a, 4);
  std::memcpy(y, &b, 4);
  for (int n = 0; n < 4; ++n) sum += x[n] * y[n];
  return sum;
}
