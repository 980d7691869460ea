// 16-bit floating-point types of the emulated GPU: half precision and bfloat16, computed in float32 and rounded. Also
// the WMMA interface of tensor cores: every thread of a warp holds whole matrices, and one thread stores the result.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

static inline std::uint32_t rx_bits(float x) {
  std::uint32_t bits;
  return std::memcpy(&bits, &x, 4), bits;
}
static inline float rx_float(std::uint32_t bits) {
  float x;
  return std::memcpy(&x, &bits, 4), x;
}
static inline std::uint16_t rx_to_half(float x) {  // round to nearest, ties to even
  std::uint32_t bits = rx_bits(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  if (size >= 0x47800000) return sign | 0x7c00;
  if (size < 0x38800000) {  // subnormal numbers are multiples of 2⁻²⁴
    return sign | std::uint16_t(std::nearbyint(rx_float(size) * 16777216.0f));
  }
  std::uint32_t rounded = size + 0xfff + (size >> 13 & 1);
  return sign | ((rounded - 0x38000000) >> 13);
}
static inline float rx_of_half(std::uint16_t bits) {
  std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16, size = bits & 0x7fff;
  if (size >= 0x7c00) return rx_float(sign | 0x7f800000 | (size & 0x3ff) << 13);
  if (size < 0x400) return rx_float(sign | rx_bits(size / 16777216.0f));
  return rx_float(sign | ((size << 13) + 0x38000000));
}
static inline std::uint16_t rx_to_bfloat(float x) {
  std::uint32_t bits = rx_bits(x);
  if (x != x) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

template <bool wide> struct rx_narrow {
  std::uint16_t bits;
  rx_narrow() = default;
  rx_narrow(const rx_narrow &) = default;
  rx_narrow(const volatile rx_narrow &x) : bits(x.bits) {}
  rx_narrow &operator=(const rx_narrow &) = default;
  void operator=(const rx_narrow &x) volatile { bits = x.bits; }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> rx_narrow(T x)
      : bits(wide ? rx_to_bfloat(float(x)) : rx_to_half(float(x))) {}
  explicit rx_narrow(rx_narrow<!wide> x) : rx_narrow(float(x)) {}
  operator float() const { return wide ? rx_float(std::uint32_t(bits) << 16) : rx_of_half(bits); }
};
#define RX_OPERATOR(op)                                                                       \
  template <bool w> static inline rx_narrow<w> operator op(rx_narrow<w> a, rx_narrow<w> b) {  \
    return float(a) op float(b);                                                              \
  }                                                                                           \
  template <bool w> static inline rx_narrow<w> &operator op##=(rx_narrow<w> &a, rx_narrow<w> b) { return a = a op b; }
RX_OPERATOR(+) RX_OPERATOR(-) RX_OPERATOR(*) RX_OPERATOR(/)
#define RX_COMPARED(op, name)                                                                                     \
  template <bool w> static inline bool operator op(rx_narrow<w> a, rx_narrow<w> b) { return float(a) op float(b); } \
  template <bool w> static inline bool name(rx_narrow<w> a, rx_narrow<w> b) { return float(a) op float(b); }
RX_COMPARED(<, __hlt) RX_COMPARED(>, __hgt) RX_COMPARED(<=, __hle) RX_COMPARED(>=, __hge) RX_COMPARED(==, __heq)
RX_COMPARED(!=, __hneu)
template <bool w> static inline rx_narrow<w> operator-(rx_narrow<w> a) { return -float(a); }

#define RX_FUNCTION(name, of_float) \
  template <bool w> static inline rx_narrow<w> name(rx_narrow<w> a) { return of_float(float(a)); }
RX_FUNCTION(hexp, expf) RX_FUNCTION(hexp2, exp2f) RX_FUNCTION(hlog, logf) RX_FUNCTION(hlog2, log2f)
RX_FUNCTION(hlog10, log10f) RX_FUNCTION(hsqrt, sqrtf) RX_FUNCTION(hsin, sinf) RX_FUNCTION(hcos, cosf)
RX_FUNCTION(hfloor, floorf) RX_FUNCTION(hceil, ceilf) RX_FUNCTION(htrunc, truncf) RX_FUNCTION(hrint, nearbyintf)
RX_FUNCTION(__habs, fabsf) RX_FUNCTION(hrsqrt, 1 / sqrtf)
template <bool w> static inline bool __hisnan(rx_narrow<w> a) { return float(a) != float(a); }

using half = rx_narrow<false>;
using __half = half;
using nv_bfloat16 = rx_narrow<true>;
using __nv_bfloat16 = nv_bfloat16;
template <class T> struct alignas(4) rx_two {
  T x, y;
  rx_two() = default;
  rx_two(T x, T y) : x(x), y(y) {}
};
using half2 = rx_two<half>;
using nv_bfloat162 = rx_two<nv_bfloat16>;
using __half2 = half2;
static inline half2 make_half2(half x, half y) { return {x, y}; }
static inline half __float2half_rn(float x) { return x; }
static inline half __float2half(float x) { return x; }
static inline float __half2float(half x) { return x; }
static inline nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
static inline nv_bfloat16 __float2bfloat16(float x) { return x; }
static inline float __bfloat162float(nv_bfloat16 x) { return x; }

namespace nvcuda::wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M, columns = std::is_same_v<Use, matrix_a> ? K : N;
  static constexpr int num_elements = rows * columns;
  T x[num_elements];
};
template <class F, class T> static void fill_fragment(F &f, T value) {
  for (auto &x : f.x) x = value;
}
template <class F, class T> static void rx_load(F &f, const T *from, unsigned stride, bool columns) {
  for (int i = 0; i < F::rows; ++i) {
    for (int j = 0; j < F::columns; ++j) f.x[i * F::columns + j] = columns ? from[j * stride + i] : from[i * stride + j];
  }
  rx_warp(rx_active(), -1);
}
template <class Use, int M, int N, int K, class T, class Layout>
static void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const T *from, unsigned stride) {
  rx_load(f, from, stride, std::is_same_v<Layout, col_major>);
}
template <int M, int N, int K, class T>
static void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *from, unsigned stride, layout_t layout) {
  rx_load(f, from, stride, layout == mem_col_major);
}
template <int M, int N, int K, class T>
static void store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout) {
  rx_warp(rx_active(), -2);
  if (rx_lane() == 0) {
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) to[layout == mem_col_major ? j * stride + i : i * stride + j] = f.x[i * N + j];
    }
  }
  rx_warp(rx_active(), -2);
}
template <int M, int N, int K, class T, class A, class B, class LA, class LB>
static void mma_sync(fragment<accumulator, M, N, K, T> &d, const fragment<matrix_a, M, N, K, A, LA> &a,
                     const fragment<matrix_b, M, N, K, B, LB> &b, const fragment<accumulator, M, N, K, T> &c) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = float(c.x[i * N + j]);
      for (int k = 0; k < K; ++k) sum += float(a.x[i * K + k]) * float(b.x[k * N + j]);
      d.x[i * N + j] = T(sum);
    }
  }
}
}  // namespace nvcuda::wmma
