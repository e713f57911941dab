// A layer's attention for every row of a step: project, keep, attend, project back.
#pragma once
#include "attention.h"
#include "rotary.h"
#include "worker.h"

namespace clearformer {

template <class I>
class Heads : private Worker<I> {
 public:
  using Worker<I>::Worker;

  void attention(const cf_attention& a, int32_t layer, const cf_norm& norm, bool straight) {
    const Operand x = prepare_all(room_.stream, a.joint.matrix->format, width_, norm);
    product(a.joint, x, step_.rows, {room_.joint.data, room_.joint.stride, a.joint.bias, nullptr, nullptr, false});
    keep_heads(a, layer);
    attend_heads(a, layer);
    const Operand mixed = prepare_all(room_.mixed, a.output.matrix->format, int64_t(a.heads) * a.value_width, {});
    product(a.output, mixed, step_.rows, into(straight, a.output.bias));
  }

 private:
  using Base = Worker<I>;
  using Base::into, Base::meet, Base::own_, Base::prepare_all, Base::product, Base::program_, Base::room_;
  using Base::share, Base::step_, Base::thread_, Base::width_;

  // Queries and keys normalised and turned; keys and values into the sequence. A norm over the projection needs all heads.
  void keep_heads(const cf_attention& a, int32_t layer) {
    const bool whole = a.norm_over_projection && (a.query_norm.kind != CF_NO_NORM || a.key_norm.kind != CF_NO_NORM);
    const int parts = whole ? 1 : a.kv_heads, heads = a.heads / parts, kv_heads = a.kv_heads / parts;
    for (int64_t item = thread_; item < int64_t(step_.rows) * parts; item += step_.threads) {
      const int row = int(item / parts), part = int(item % parts);
      float* queries = room_.joint[row] + int64_t(part) * heads * a.key_width;
      float* keys = room_.joint[row] + int64_t(a.heads + part * kv_heads) * a.key_width;
      const float* values = room_.joint[row] + int64_t(a.heads + a.kv_heads) * a.key_width + int64_t(part) * kv_heads * a.value_width;
      if (whole) {
        normalise<I>(a.query_norm, queries, queries, int64_t(a.heads) * a.key_width);
        normalise<I>(a.key_norm, keys, keys, int64_t(a.kv_heads) * a.key_width);
      }
      for (int head = 0; head < heads; ++head) turn(a, row, queries + int64_t(head) * a.key_width, whole ? cf_norm{} : a.query_norm, a.scale);
      for (int head = 0; head < kv_heads; ++head) {
        turn(a, row, keys + int64_t(head) * a.key_width, whole ? cf_norm{} : a.key_norm, 1);
        const float *key = keys + int64_t(head) * a.key_width, *value = values + int64_t(head) * a.value_width;
        program_.half_cache ? keep<uint16_t>(a, row, layer, part * kv_heads + head, key, value)
                            : keep<float>(a, row, layer, part * kv_heads + head, key, value);
      }
    }
    meet();
  }

  void turn(const cf_attention& a, int row, float* head, const cf_norm& norm, float scale) const {
    normalise<I>(norm, head, head, a.key_width);
    if (a.rotary >= 0) {
      const float* angles = step_.sequences[row]->rotary[a.rotary] + step_.positions[row] * a.rotary_width;
      rotate(head, a.rotary_width, a.rotary_interleaved, angles);
    }
    for (int64_t at = 0; at < a.key_width && scale != 1; ++at) head[at] *= scale;
  }

  template <class Number>
  void keep(const cf_attention& a, int row, int32_t layer, int head, const float* key, const float* value) const {
    const cf_sequence& sequence = *step_.sequences[row];
    const cf_sequence::Layer& place = sequence.layers[layer];
    const int64_t position = step_.positions[row];
    Number* keys = sequence.keys<Number>(place, head) + position / 16 * 16 * a.key_width + position % 16;
    for (int64_t at = 0; at < a.key_width; at += 16) {
      const int64_t count = a.key_width - at < 16 ? a.key_width - at : 16;
      Number sixteen[16];
      store_number<I>(sixteen, sixteen_of(key + at, count));
      for (int64_t i = 0; i < count; ++i) keys[(at + i) * 16] = sixteen[i];
    }
    Number* values = sequence.values<Number>(place, head) + position * place.value_width;
    for (int64_t at = 0; at < a.value_width; at += 16)
      store_number<I>(values + at, sixteen_of(value + at, a.value_width - at));
  }

  // The first `count` numbers, and zeros up to 16.
  typename I::F sixteen_of(const float* x, int64_t count) const {
    if (count >= 16) return I::load(x);
    for (int64_t i = 0; i < 16; ++i) own_.head[i] = i < count ? x[i] : 0;
    return I::load(own_.head);
  }

  // Work is cut into items of at most MOST_QUERIES queries that share a key/value head: a few rows of one sequence, or a
  // part of a group's heads.
  void attend_heads(const cf_attention& a, int32_t layer) {
    const int group = a.heads / a.kv_heads;
    const int heads = heads_together(a, group), parts = (group + heads - 1) / heads;
    const int rows_together = step_.rows == 1 ? 1 : std::max(1, MOST_QUERIES / heads);
    int64_t item = 0;
    for (int row = 0; row < step_.rows;) {
      int end = row + 1;
      while (end < step_.rows && end < row + rows_together && step_.sequences[end] == step_.sequences[row]) ++end;
      for (int head = 0; head < a.kv_heads; ++head)
        for (int part = 0; part < parts; ++part, ++item)
          if (item % step_.threads == thread_)
            attend_item(a, layer, row, end, head, head * group + part * heads, std::min(heads, group - part * heads));
      row = end;
    }
    meet();
  }

  // Heads of a group that one item takes: all, unless a lone row leaves threads idle.
  int heads_together(const cf_attention& a, int group) const {
    int best = std::min(group, MOST_QUERIES);
    if (step_.rows > 1) return best;
    double least = 1e30;
    for (int heads = std::min(group, MOST_QUERIES); heads >= 1; --heads) {
      const int items = a.kv_heads * ((group + heads - 1) / heads);
      const double time = double((items + step_.threads - 1) / step_.threads) * (1 + heads);
      if (time < least) least = time, best = heads;
    }
    return best;
  }

  void attend_item(const cf_attention& a, int32_t layer, int row, int end, int kv_head, int head, int heads) {
    Query queries[MOST_QUERIES];
    int count = 0;
    const cf_sequence& sequence = *step_.sequences[row];
    const cf_sequence::Layer& place = sequence.layers[layer];
    const int64_t biases = sequence.capacity + 16;
    for (; row < end; ++row)
      for (int each = head; each < head + heads; ++each)
        queries[count++] = {room_.joint[row] + int64_t(each) * a.key_width, room_.mixed[row] + int64_t(each) * a.value_width,
                            step_.positions[row],
                            a.bias < 0 ? nullptr : sequence.bias[a.bias] + each * biases + sequence.capacity - 1};
    const Scoring scoring{a.window, a.score_cap};
    if (program_.half_cache)
      attend<I, uint16_t>(sequence.keys<uint16_t>(place, kv_head), sequence.values<uint16_t>(place, kv_head), a.key_width,
                          place.value_width, a.value_width, queries, count, scoring, own_.mixed);
    else
      attend<I, float>(sequence.keys<float>(place, kv_head), sequence.values<float>(place, kv_head), a.key_width,
                       place.value_width, a.value_width, queries, count, scoring, own_.mixed);
  }
};

}  // namespace clearformer
