// Distances of one vector to several others at once.
//
// Each sum is taken in the order of hnswlib's SSE functions (space_ip.h, space_l2.h), which npm's build of hnswlib-node
// has: four partial sums, of the numbers whose places are equal modulo 4, and then the rest. Wider registers hold the
// partial sums of several vectors, never more partial sums of one. So every distance has the bits that hnswlib-node
// computes, with each set of instructions. Compile with -ffp-contract=off: a fused product is rounded once, not twice.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <string>

namespace ragpp {

enum class Metric { InnerProduct, SquaredLength };

/** Writes the distances of `query` [dimension] to `count` rows [dimension] each. */
using Measure = void (*)(const float *query, const float *const *rows, size_t count, size_t dimension, float *distances);

/** How many of the numbers go into the four partial sums. */
inline size_t countSummedInLanes(size_t dimension) {
  if (dimension % 4 == 0) return dimension;
  if (dimension > 16) return dimension / 16 * 16;
  return dimension > 4 ? dimension / 4 * 4 : 0;
}

/** The distance by its partial sums: adds them, and what is left. */
template <Metric M>
inline float finish(__m128 sums, const float *query, const float *row, size_t summed, size_t dimension) {
  alignas(16) float lanes[4];
  _mm_store_ps(lanes, sums);
  const float sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
  float rest = 0;
  for (size_t i = summed; i < dimension; i++) {
    const float difference = row[i] - query[i];
    rest += M == Metric::InnerProduct ? row[i] * query[i] : difference * difference;
  }
  return M == Metric::InnerProduct ? 1.0f - (sum + rest) : sum + rest;
}

/** One register for each of `W` vectors. */
template <Metric M, int W>
inline void measureSse(const float *query, const float *const *rows, size_t dimension, float *distances) {
  const size_t summed = countSummedInLanes(dimension);
  __m128 sums[W];
  for (int w = 0; w < W; w++) sums[w] = _mm_setzero_ps();
  for (size_t i = 0; i < summed; i += 4) {
    const __m128 q = _mm_loadu_ps(query + i);
    for (int w = 0; w < W; w++) {
      const __m128 row = _mm_loadu_ps(rows[w] + i);
      const __m128 term = M == Metric::InnerProduct ? row : _mm_sub_ps(row, q);
      sums[w] = _mm_add_ps(sums[w], _mm_mul_ps(term, M == Metric::InnerProduct ? q : term));
    }
  }
  for (int w = 0; w < W; w++) distances[w] = finish<M>(sums[w], query, rows[w], summed, dimension);
}

template <Metric M>
void measureBySse(const float *query, const float *const *rows, size_t count, size_t dimension, float *distances) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) measureSse<M, 8>(query, rows + i, dimension, distances + i);
  for (; i + 4 <= count; i += 4) measureSse<M, 4>(query, rows + i, dimension, distances + i);
  for (; i < count; i++) measureSse<M, 1>(query, rows + i, dimension, distances + i);
}

/** A register for each pair of `2 P` vectors: its halves have the partial sums of one vector each. */
template <Metric M, int P>
__attribute__((target("avx2"))) inline void measureAvx2(const float *query, const float *const *rows, size_t dimension,
                                                        float *distances) {
  const size_t summed = countSummedInLanes(dimension);
  __m256 sums[P];
  for (int p = 0; p < P; p++) sums[p] = _mm256_setzero_ps();
  size_t i = 0;
  for (; i + 8 <= summed; i += 8) {
    const __m256 q = _mm256_loadu_ps(query + i);
    for (int p = 0; p < P; p++) {
      __m256 a = _mm256_loadu_ps(rows[2 * p] + i), b = _mm256_loadu_ps(rows[2 * p + 1] + i);
      if (M == Metric::SquaredLength) a = _mm256_sub_ps(a, q), b = _mm256_sub_ps(b, q);
      a = _mm256_mul_ps(a, M == Metric::InnerProduct ? q : a);
      b = _mm256_mul_ps(b, M == Metric::InnerProduct ? q : b);
      sums[p] = _mm256_add_ps(sums[p], _mm256_permute2f128_ps(a, b, 0x20));
      sums[p] = _mm256_add_ps(sums[p], _mm256_permute2f128_ps(a, b, 0x31));
    }
  }
  for (; i < summed; i += 4) {
    const __m256 q = _mm256_broadcast_ps((const __m128 *)(query + i));
    for (int p = 0; p < P; p++) {
      __m256 ab = _mm256_set_m128(_mm_loadu_ps(rows[2 * p + 1] + i), _mm_loadu_ps(rows[2 * p] + i));
      if (M == Metric::SquaredLength) ab = _mm256_sub_ps(ab, q);
      sums[p] = _mm256_add_ps(sums[p], _mm256_mul_ps(ab, M == Metric::InnerProduct ? q : ab));
    }
  }
  for (int p = 0; p < P; p++) {
    distances[2 * p] = finish<M>(_mm256_castps256_ps128(sums[p]), query, rows[2 * p], summed, dimension);
    distances[2 * p + 1] = finish<M>(_mm256_extractf128_ps(sums[p], 1), query, rows[2 * p + 1], summed, dimension);
  }
}

template <Metric M>
__attribute__((target("avx2"))) void measureByAvx2(const float *query, const float *const *rows, size_t count,
                                                   size_t dimension, float *distances) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) measureAvx2<M, 4>(query, rows + i, dimension, distances + i);
  for (; i + 4 <= count; i += 4) measureAvx2<M, 2>(query, rows + i, dimension, distances + i);
  for (; i + 2 <= count; i += 2) measureAvx2<M, 1>(query, rows + i, dimension, distances + i);
  if (i < count) measureSse<M, 1>(query, rows + i, dimension, distances + i);
}

/** A register for each four of `4 F` vectors: its quarters have the partial sums of one vector each. */
template <Metric M, int F>
__attribute__((target("avx512f"))) inline void measureAvx512(const float *query, const float *const *rows,
                                                             size_t dimension, float *distances) {
  const size_t summed = countSummedInLanes(dimension);
  __m512 sums[F];
  for (int f = 0; f < F; f++) sums[f] = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 16 <= summed; i += 16) {
    const __m512 q = _mm512_loadu_ps(query + i);
    for (int f = 0; f < F; f++) {
      __m512 terms[4];
      for (int j = 0; j < 4; j++) {
        const __m512 row = _mm512_loadu_ps(rows[4 * f + j] + i);
        const __m512 term = M == Metric::InnerProduct ? row : _mm512_sub_ps(row, q);
        terms[j] = _mm512_mul_ps(term, M == Metric::InnerProduct ? q : term);
      }
      const __m512 a = _mm512_shuffle_f32x4(terms[0], terms[1], 0x44), b = _mm512_shuffle_f32x4(terms[2], terms[3], 0x44);
      const __m512 c = _mm512_shuffle_f32x4(terms[0], terms[1], 0xee), d = _mm512_shuffle_f32x4(terms[2], terms[3], 0xee);
      sums[f] = _mm512_add_ps(sums[f], _mm512_shuffle_f32x4(a, b, 0x88));
      sums[f] = _mm512_add_ps(sums[f], _mm512_shuffle_f32x4(a, b, 0xdd));
      sums[f] = _mm512_add_ps(sums[f], _mm512_shuffle_f32x4(c, d, 0x88));
      sums[f] = _mm512_add_ps(sums[f], _mm512_shuffle_f32x4(c, d, 0xdd));
    }
  }
  for (int f = 0; f < F; f++) {
    const float *const *four = rows + 4 * f;
    __m128 lanes[4] = {_mm512_extractf32x4_ps(sums[f], 0), _mm512_extractf32x4_ps(sums[f], 1),
                       _mm512_extractf32x4_ps(sums[f], 2), _mm512_extractf32x4_ps(sums[f], 3)};
    for (int j = 0; j < 4; j++) {
      for (size_t at = i; at < summed; at += 4) {
        const __m128 q = _mm_loadu_ps(query + at), row = _mm_loadu_ps(four[j] + at);
        const __m128 term = M == Metric::InnerProduct ? row : _mm_sub_ps(row, q);
        lanes[j] = _mm_add_ps(lanes[j], _mm_mul_ps(term, M == Metric::InnerProduct ? q : term));
      }
      distances[4 * f + j] = finish<M>(lanes[j], query, four[j], summed, dimension);
    }
  }
}

template <Metric M>
__attribute__((target("avx512f,avx2"))) void measureByAvx512(const float *query, const float *const *rows, size_t count,
                                                             size_t dimension, float *distances) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) measureAvx512<M, 2>(query, rows + i, dimension, distances + i);
  for (; i + 4 <= count; i += 4) measureAvx512<M, 1>(query, rows + i, dimension, distances + i);
  for (; i + 2 <= count; i += 2) measureAvx2<M, 1>(query, rows + i, dimension, distances + i);
  if (i < count) measureSse<M, 1>(query, rows + i, dimension, distances + i);
}

/** The sets of instructions that this processor has, the widest first. */
inline bool hasInstructions(const std::string &name) {
  if (name == "avx512") return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2");
  if (name == "avx2") return __builtin_cpu_supports("avx2");
  return name == "sse";
}

template <Metric M>
Measure chooseMeasure(const std::string &instructions) {
  if (instructions == "avx512") return measureByAvx512<M>;
  return instructions == "avx2" ? measureByAvx2<M> : measureBySse<M>;
}

}  // namespace ragpp
