// exp, tanh and erf for sixteen numbers, and the activations made of them.
#pragma once
#include "abi.h"

namespace clearformer {

// exp to 1e-7 of its size: x = n · ln 2 + r with |r| ≤ ln 2 / 2, and a polynomial in r. 0 below −87.
// The bounds stand first, as a NaN in the second place stays one.
template <class I>
typename I::F exponential(typename I::F x) {
  const auto bounded = I::min(I::set(88.0f), I::max(I::set(-87.0f), x));
  const auto n = I::round(I::mul(bounded, I::set(1.44269504f)));
  const auto r = I::fma(n, I::set(2.12194440e-4f), I::fma(n, I::set(-0.693359375f), bounded));
  auto p = I::set(1.9875691500e-4f);
  for (float coefficient : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = I::fma(p, r, I::set(coefficient));
  const auto value = I::mul(I::fma(I::mul(r, r), p, I::add(r, I::set(1.0f))), I::power_of_2(n));
  return I::where_less(x, I::set(-87.0f), I::zero(), value);
}

template <class I>
typename I::F sigmoid(typename I::F x) {
  return I::div(I::set(1.0f), I::add(I::set(1.0f), exponential<I>(I::sub(I::zero(), x))));
}

// 2σ(2x) − 1, and near 0, where that loses its digits, x − x³/3 + 2x⁵/15.
template <class I>
typename I::F tangent(typename I::F x) {
  const auto far = I::sub(I::mul(I::set(2.0f), sigmoid<I>(I::add(x, x))), I::set(1.0f));
  const auto square = I::mul(x, x);
  const auto near = I::mul(x, I::fma(square, I::fma(square, I::set(2.0f / 15), I::set(-1.0f / 3)), I::set(1.0f)));
  return I::where_less(I::abs(x), I::set(0.1f), near, far);
}

// Abramowitz and Stegun 7.1.26: within 1.5e-7.
template <class I>
typename I::F error_function(typename I::F x) {
  const auto size = I::abs(x);
  const auto t = I::div(I::set(1.0f), I::fma(size, I::set(0.3275911f), I::set(1.0f)));
  auto p = I::set(1.061405429f);
  for (float coefficient : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) p = I::fma(p, t, I::set(coefficient));
  const auto value = I::sub(I::set(1.0f), I::mul(I::mul(p, t), exponential<I>(I::sub(I::zero(), I::mul(size, size)))));
  return I::where_less(x, I::zero(), I::sub(I::zero(), value), value);
}

template <class I>
typename I::F activate(int32_t kind, typename I::F x) {
  const auto half = I::mul(I::set(0.5f), x);
  switch (kind) {
    case CF_RELU: return I::where_less(x, I::zero(), I::zero(), x);
    case CF_GELU: return I::fma(half, error_function<I>(I::mul(x, I::set(0.70710678f))), half);
    case CF_GELU_TANH: {
      const auto inner = I::mul(I::mul(x, I::set(0.79788456f)), I::fma(I::mul(x, x), I::set(0.044715f), I::set(1.0f)));
      return I::fma(half, tangent<I>(inner), half);
    }
    case CF_QUICK_GELU: return I::mul(x, sigmoid<I>(I::mul(x, I::set(1.702f))));
    case CF_SILU: return I::mul(x, sigmoid<I>(x));
    case CF_TANH: return tangent<I>(x);
    default: return x;
  }
}

}  // namespace clearformer
