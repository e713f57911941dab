// softmax(Q Kᵀ) V of a few queries that read the same keys and values, with the softmax carried along.
//
// Positions are taken 256 at a time: their scores, the largest so far, their exponentials, and their part of the output,
// to which what came before is scaled down (Milakov and Gimelshein 2018, arXiv 1805.02867). Where a chunk begins does not
// depend on the queries, so each gets what it would get alone.
#pragma once
#include "activation.h"
#include "sequence.h"

#include <cmath>
#include <type_traits>

namespace clearformer {

constexpr int MOST_QUERIES = 8, CHUNK = 256;

// A query vector, already scaled; where its output goes; and for its head the biases, that of its own position first.
struct Query {
  const float* vector;
  float* out;
  int64_t position;
  const float* bias;
};

// What a layer's scores are subject to.
struct Scoring {
  int64_t window;
  float cap;
};

template <class I, class Number>
inline typename I::F load_number(const Number* p) {
  if constexpr (std::is_same_v<Number, float>) return I::load(p);
  else return I::load_half(p);
}

// Keep 16 numbers: what a half cannot hold becomes the largest that it can.
template <class I, class Number>
inline void store_number(Number* p, typename I::F x) {
  if constexpr (std::is_same_v<Number, float>) I::store(p, x);
  else I::store_half(p, I::min(I::set(65504.0f), I::max(I::set(-65504.0f), x)));
}

template <class I, class Number, int Q>
class Attending {
  using F = typename I::F;

 public:
  Attending(const Number* keys, const Number* values, int64_t key_width, int64_t value_width, const Query* queries,
            Scoring scoring, float* mixed)
      : keys_(keys), values_(values), key_width_(key_width), value_width_(value_width), queries_(queries), scoring_(scoring), mixed_(mixed) {}

  void run() {
    int64_t first = queries_[0].position, last = 0;
    for (int q = 0; q < Q; ++q) {
      largest_[q] = -INFINITY;
      sum_[q] = 0;
      oldest_[q] = scoring_.window ? std::max<int64_t>(0, queries_[q].position - scoring_.window + 1) : 0;
      first = std::min(first, oldest_[q]);
      last = std::max(last, queries_[q].position + 1);
      for (int64_t at = 0; at < value_width_; at += 16) I::store(mixed_ + q * value_width_ + at, I::zero());
    }
    for (int64_t chunk = first / CHUNK * CHUNK; chunk < last; chunk += CHUNK) {
      const int64_t begin = std::max(chunk, first / 16 * 16), end = std::min(chunk + CHUNK, last);
      score(begin, end);
      weigh(begin, end);
      mix(begin, end);
    }
  }

  float sum(int q) const { return sum_[q]; }

 private:
  // Scores of positions `begin` (a multiple of 16) to `end`, and the largest of each query's.
  void score(int64_t begin, int64_t end) {
    F most[Q];
    for (int q = 0; q < Q; ++q) most[q] = I::set(-INFINITY);
    for (int64_t block = begin; block < end; block += 16) {
      F sums[Q];
      for (int q = 0; q < Q; ++q) sums[q] = I::zero();
      const Number* key = keys_ + block * key_width_;
      for (int64_t at = 0; at < key_width_; ++at, key += 16) {
        const F sixteen = load_number<I>(key);
        for (int q = 0; q < Q; ++q) sums[q] = I::fma(I::set(queries_[q].vector[at]), sixteen, sums[q]);
      }
      for (int q = 0; q < Q; ++q) {
        sums[q] = bend(sums[q], q, block);
        most[q] = I::max(sums[q], most[q]);
        I::store(scores_[q] + block - begin, sums[q]);
      }
    }
    for (int q = 0; q < Q; ++q) chunk_largest_[q] = I::largest(most[q]);
  }

  F bend(F score, int q, int64_t block) const {
    const Query& query = queries_[q];
    if (scoring_.cap > 0) score = I::mul(I::set(scoring_.cap), tangent<I>(I::div(score, I::set(scoring_.cap))));
    if (query.bias) score = I::add(score, I::load(query.bias - query.position + block));
    if (block + 15 <= query.position && block >= oldest_[q]) return score;
    const F place = I::add(I::lanes(), I::set(0.5f));
    score = I::where_less(place, I::set(float(query.position + 1 - block)), score, I::set(-INFINITY));
    return I::where_less(place, I::set(float(oldest_[q] - block)), I::set(-INFINITY), score);
  }

  // Scores become exponentials below the largest so far; `factor_` brings down what was mixed before.
  void weigh(int64_t begin, int64_t end) {
    for (int q = 0; q < Q; ++q) {
      const float largest = std::max(largest_[q], chunk_largest_[q]);
      // A chunk that a query does not see at all.
      const float reference = largest == -INFINITY ? 0 : largest;
      factor_[q] = largest_[q] == -INFINITY ? 0 : std::exp(largest_[q] - reference);
      F total = I::zero();
      for (int64_t at = 0; at < end - begin; at += 16) {
        const F weight = exponential<I>(I::sub(I::load(scores_[q] + at), I::set(reference)));
        total = I::add(total, weight);
        I::store(scores_[q] + at, weight);
      }
      sum_[q] = sum_[q] * factor_[q] + I::sum(total);
      largest_[q] = largest;
    }
  }

  void mix(int64_t begin, int64_t end) {
    constexpr int WIDE = Q <= 4 ? 4 : 2;
    int64_t at = 0;
    for (; at + 16 * WIDE <= value_width_; at += 16 * WIDE) mix_part<WIDE>(begin, end, at);
    for (; at < value_width_; at += 16) mix_part<1>(begin, end, at);
  }

  template <int W>
  void mix_part(int64_t begin, int64_t end, int64_t at) {
    F sums[Q][W];
    for (int q = 0; q < Q; ++q)
      for (int w = 0; w < W; ++w)
        sums[q][w] = I::mul(I::load(mixed_ + q * value_width_ + at + 16 * w), I::set(factor_[q]));
    const Number* value = values_ + begin * value_width_ + at;
    for (int64_t position = 0; position < end - begin; ++position, value += value_width_)
      for (int w = 0; w < W; ++w) {
        const F sixteen = load_number<I>(value + 16 * w);
        for (int q = 0; q < Q; ++q) sums[q][w] = I::fma(I::set(scores_[q][position]), sixteen, sums[q][w]);
      }
    for (int q = 0; q < Q; ++q)
      for (int w = 0; w < W; ++w) I::store(mixed_ + q * value_width_ + at + 16 * w, sums[q][w]);
  }

  const Number *keys_, *values_;
  const int64_t key_width_, value_width_;
  const Query* queries_;
  const Scoring scoring_;
  float* mixed_;
  int64_t oldest_[Q];
  float largest_[Q], chunk_largest_[Q], sum_[Q], factor_[Q];
  alignas(64) float scores_[Q][CHUNK];
};

template <class I, class Number, int Q>
void attend_some(const Number* keys, const Number* values, int64_t key_width, int64_t value_width, int64_t kept,
                 const Query* queries, Scoring scoring, float* mixed) {
  Attending<I, Number, Q> attending(keys, values, key_width, value_width, queries, scoring, mixed);
  attending.run();
  for (int q = 0; q < Q; ++q)
    for (int64_t at = 0; at < kept; ++at) queries[q].out[at] = mixed[q * value_width + at] / attending.sum(q);
}

// Up to MOST_QUERIES queries of one sequence that share a key/value head. `value_width` is padded, `kept` is not;
// `mixed` has room for MOST_QUERIES · value_width numbers.
template <class I, class Number>
void attend(const Number* keys, const Number* values, int64_t key_width, int64_t value_width, int64_t kept,
            const Query* queries, int count, Scoring scoring, float* mixed) {
  switch (count) {
    case 1: return attend_some<I, Number, 1>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    case 2: return attend_some<I, Number, 2>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    case 3: return attend_some<I, Number, 3>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    case 4: return attend_some<I, Number, 4>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    case 5: return attend_some<I, Number, 5>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    case 6: return attend_some<I, Number, 6>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    case 7: return attend_some<I, Number, 7>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
    default: return attend_some<I, Number, 8>(keys, values, key_width, value_width, kept, queries, scoring, mixed);
  }
}

}  // namespace clearformer
