// One step through all layers, as every thread walks it: each phase is shared out, and a barrier ends it.
#pragma once
#include "heads.h"
#include "networks.h"

namespace clearformer {

template <class I>
class Walker : private Worker<I> {
 public:
  Walker(const Step& step, int thread, Barrier& barrier)
      : Worker<I>(step, thread, barrier), heads_(step, thread, barrier), networks_(step, thread, barrier) {}

  void run() {
    embed();
    for (int32_t index = 0; index < program_.layer_count; ++index) block(program_.layers[index], index);
    logits();
  }

 private:
  using Base = Worker<I>;
  using Base::meet, Base::own_, Base::prepare, Base::product, Base::program_, Base::room_, Base::share;
  using Base::step_, Base::thread_, Base::width_;

  void embed() {
    for (int row = thread_; row < step_.rows; row += step_.threads) {
      float* x = room_.stream[row];
      program_.embed->read(step_.ids[row], x);
      const float* place = step_.sequences[row]->inputs;
      if (place) place += step_.positions[row] * width_;
      for (int64_t at = 0; at < width_; ++at) {
        x[at] *= program_.embed_scale;
        if (place) x[at] += place[at];
        if (program_.segment) x[at] += program_.segment[at];
      }
      for (int64_t at = width_; at < room_.stream.stride; ++at) x[at] = 0;
      normalise<I>(program_.embed_norm, x, x, width_);
    }
    meet();
  }

  // The residual stream around both sublayers; where the norms stand is the placement's.
  void block(const cf_layer& layer, int32_t index) {
    const int32_t placement = layer.placement;
    const bool first = placement != CF_POST && placement != CF_BRANCH, straight = placement == CF_PRE;
    const bool parallel = placement == CF_PARALLEL || placement == CF_PARALLEL_SHARED;
    heads_.attention(layer.attention, index, first ? layer.attention_norm : cf_norm{}, straight);
    if (!straight && !parallel) join(placement, layer.attention_norm, layer.attention_output_norm);
    const cf_norm& before = placement == CF_PARALLEL_SHARED ? layer.attention_norm : layer.feedforward_norm;
    // Experts add up beside the stream, which each of them still reads.
    const bool at_once = straight && !layer.feedforward.router.matrix;
    networks_.feedforward(layer.feedforward, first ? before : cf_norm{}, at_once, parallel);
    if (!at_once) join(placement, layer.feedforward_norm, layer.feedforward_output_norm);
  }

  // What a sublayer left in `branch` joins the stream.
  void join(int32_t placement, const cf_norm& norm, const cf_norm& output_norm) {
    for (int row = thread_; row < step_.rows; row += step_.threads) {
      float *x = room_.stream[row], *y = room_.branch[row];
      if (placement == CF_BRANCH) normalise<I>(norm, y, y, width_);
      if (placement == CF_SANDWICH) normalise<I>(output_norm, y, y, width_);
      for (int64_t at = 0; at < width_; ++at) x[at] += y[at];
      if (placement == CF_POST) normalise<I>(norm, x, x, width_);
    }
    meet();
  }

  void logits() {
    const int count = step_.wanted_count;
    if (!count) return;
    const int ranges[2] = {0, count};
    const bool lone = count == 1, bent = program_.transform.matrix;
    const Operand buffer = lone ? own_.operand : room_.operand;
    const cf_format format = bent ? program_.transform.matrix->format : program_.head.matrix->format;
    Operand x = prepare(buffer, format, width_, program_.final_norm, ranges, 1,
                        [&](int row) { return room_.stream[step_.wanted[row]]; }, lone, program_.hidden_scale);
    if (bent) x = transform(x, count, buffer, ranges, lone);
    const int64_t stride = int64_t(padded(program_.vocabulary, LANES));
    const Span blocks = share(program_.head.matrix->blocks);
    multiply<I>(*program_.head.matrix, x, 0, count, blocks.begin, blocks.end, {step_.logits, stride, program_.head.bias, nullptr, nullptr, false});
    const auto cap = I::set(program_.logit_cap);
    for (int row = 0; row < count && program_.logit_cap > 0; ++row)
      for (int64_t at = blocks.begin * LANES; at < blocks.end * LANES; at += LANES) {
        float* logit = step_.logits + row * stride + at;
        I::store(logit, I::mul(cap, tangent<I>(I::div(I::load(logit), cap))));
      }
  }

  // norm(activation(x W + b)) before the logits.
  Operand transform(const Operand& x, int count, const Operand& buffer, const int* ranges, bool lone) {
    product(program_.transform, x, count, {room_.branch.data, room_.branch.stride, program_.transform.bias, nullptr, nullptr, false});
    for (int row = thread_; row < count; row += step_.threads) {
      float* y = room_.branch[row];
      for (int64_t at = 0; at < width_; at += LANES) I::store(y + at, activate<I>(program_.transform_activation, I::load(y + at)));
    }
    meet();
    return prepare(buffer, program_.head.matrix->format, width_, program_.transform_norm, ranges, 1,
                   [&](int row) { return room_.branch[row]; }, lone);
  }

  Heads<I> heads_;
  Networks<I> networks_;
};

template <class I>
void walk(const Step& step, int thread, Barrier& barrier) {
  Walker<I>(step, thread, barrier).run();
}

}  // namespace clearformer
