// Where the numbers of a product go.
#pragma once
#include "matrix.h"

namespace clearformer {

// What becomes of a product: y = share · (product + bias), put in or added to `out`, at row target[i] for operand row i.
struct Destination {
  float* out;
  int64_t stride;
  const float* bias;
  const int* target;
  const float* share;
  bool added;
};

template <class I>
inline void finish(const Destination& to, int row, int64_t block, typename I::F y) {
  float* out = to.out + int64_t(to.target ? to.target[row] : row) * to.stride + block * LANES;
  if (to.bias) y = I::add(y, I::load(to.bias + block * LANES));
  if (to.share) y = I::mul(y, I::set(to.share[row]));
  I::store(out, to.added ? I::add(I::load(out), y) : y);
}

}  // namespace clearformer
