// RMSNorm and LayerNorm of one row; `out` may be `x`.
#pragma once
#include "abi.h"

#include <cmath>

namespace clearformer {

// Σ each(x), the tail number by number: what stands behind a row may belong to another.
template <class I, class Vector, class Scalar>
float sum_over(const float* x, int64_t width, Vector vector, Scalar scalar) {
  auto sums = I::zero();
  int64_t at = 0;
  for (; at + 16 <= width; at += 16) sums = vector(sums, I::load(x + at));
  float total = I::sum(sums);
  for (; at < width; ++at) total += scalar(x[at]);
  return total;
}

template <class I>
float mean_of(const float* x, int64_t width) {
  auto plain = [](float number) { return number; };
  return sum_over<I>(x, width, [](auto sums, auto v) { return I::add(sums, v); }, plain) / float(width);
}

// Σ (x − mean)².
template <class I>
float squares_of(const float* x, int64_t width, float mean) {
  const auto middle = I::set(mean);
  auto vector = [&](auto sums, auto v) {
    const auto away = I::sub(v, middle);
    return I::fma(away, away, sums);
  };
  return sum_over<I>(x, width, vector, [&](float number) { return (number - mean) * (number - mean); });
}

// (x − mean) · factor · weight + bias.
template <class I>
void rescale(const cf_norm& norm, const float* x, float* out, int64_t width, float mean, float factor) {
  int64_t at = 0;
  for (; at + 16 <= width; at += 16) {
    auto y = I::mul(I::sub(I::load(x + at), I::set(mean)), I::set(factor));
    if (norm.weight) y = I::mul(y, I::load(norm.weight + at));
    if (norm.bias) y = I::add(y, I::load(norm.bias + at));
    I::store(out + at, y);
  }
  for (; at < width; ++at) {
    float y = (x[at] - mean) * factor;
    if (norm.weight) y *= norm.weight[at];
    if (norm.bias) y += norm.bias[at];
    out[at] = y;
  }
}

template <class I>
void normalise(const cf_norm& norm, const float* x, float* out, int64_t width) {
  if (norm.kind == CF_NO_NORM) {
    for (int64_t at = 0; at < width && out != x; ++at) out[at] = x[at];
    return;
  }
  const float mean = norm.kind == CF_LAYER ? mean_of<I>(x, width) : 0.0f;
  const float factor = 1 / std::sqrt(squares_of<I>(x, width, mean) / float(width) + norm.eps);
  rescale<I>(norm, x, out, width, mean, factor);
}

}  // namespace clearformer
