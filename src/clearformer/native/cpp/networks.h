// A layer's feed-forward network, or its mixture of them, for every row of a step.
#pragma once
#include "activation.h"
#include "routing.h"
#include "worker.h"

namespace clearformer {

template <class I>
class Networks : private Worker<I> {
 public:
  using Worker<I>::Worker;

  // Into the stream itself if `straight`, else into `branch`: beside what is there already if `added`.
  void feedforward(const cf_mixture& m, const cf_norm& norm, bool straight, bool added) {
    const int all[2] = {0, step_.rows};
    const int* everyone = room_.everyone.data();
    if (!m.router.matrix) return networks(m.experts, 1, norm, straight, straight || added, all, everyone, nullptr);
    for (int row = thread_; row < step_.rows && !added; row += step_.threads)
      for (int64_t at = 0; at < room_.branch.stride; ++at) room_.branch[row][at] = 0;
    send(m, norm);
    networks(m.experts, m.count, norm, false, true, room_.pair_begin.data(), room_.pair_row.data(), room_.pair_share.data());
    const float* gates = m.shared_gate.matrix ? room_.gate_share.data() : nullptr;
    if (m.shared) networks(m.shared, 1, norm, false, true, all, everyone, gates);
  }

 private:
  using Base = Worker<I>;
  using Base::into, Base::meet, Base::own_, Base::prepare, Base::product, Base::room_, Base::share;
  using Base::step_, Base::thread_, Base::width_;

  // Each row's experts, then every expert's rows, one expert after the other.
  void send(const cf_mixture& m, const cf_norm& norm) {
    const int all[2] = {0, step_.rows};
    const bool lone = step_.rows == 1;
    const Operand x = prepare(lone ? own_.routed : room_.routed, CF_FLOAT32, width_, norm, all, 1,
                              [&](int row) { return room_.stream[row]; }, lone);
    product(m.router, x, step_.rows, {room_.scores.data, room_.scores.stride, m.router.bias, nullptr, nullptr, false});
    if (m.shared_gate.matrix)
      product(m.shared_gate, x, step_.rows, {room_.gates.data, room_.gates.stride, nullptr, nullptr, nullptr, false});
    if (thread_ == 0) {
      std::fill(room_.pair_begin.begin(), room_.pair_begin.end(), 0);
      for (int row = 0; row < step_.rows; ++row) {
        route(m, room_.scores[row], &room_.chosen[row * m.active], &room_.weights[row * m.active]);
        for (int rank = 0; rank < m.active; ++rank) ++room_.pair_begin[room_.chosen[row * m.active + rank] + 1];
        room_.gate_share[row] = 1 / (1 + std::exp(-room_.gates[row][0]));
      }
      for (int expert = 0; expert < m.count; ++expert) room_.pair_begin[expert + 1] += room_.pair_begin[expert];
      for (int expert = 0, pair = 0; expert < m.count; ++expert)
        for (int at = 0; at < step_.rows * m.active; ++at)
          if (room_.chosen[at] == expert) {
            room_.pair_row[pair] = at / m.active;
            room_.pair_share[pair++] = room_.weights[at];
          }
    }
    meet();
  }

  // Networks side by side, each for its range of pairs; a pair is a row and the share with which the row takes part.
  void networks(const cf_feedforward* each, int count, const cf_norm& norm, bool straight, bool added, const int* ranges,
                const int* rows, const float* shares) {
    const bool lone = step_.rows == 1;
    const Operand x = prepare(lone ? own_.operand : room_.operand, each[0].up.matrix->format, width_, norm, ranges, count,
                              [&](int pair) { return room_.stream[rows[pair]]; }, lone);
    widen(each, count, x, ranges);
    const int64_t width = each[0].width;
    const Operand hidden = prepare(lone ? own_.operand : room_.operand, each[0].down.matrix->format, width, {}, ranges, count,
                                   [&](int pair) { return room_.activated[pair]; }, lone);
    const Span blocks = share(each[0].down.matrix->blocks);
    for (int network = 0; network < count; ++network) {
      Destination to = into(straight, each[network].down.bias);
      to.added = added, to.target = rows, to.share = shares;
      if (ranges[network] < ranges[network + 1])
        multiply<I>(*each[network].down.matrix, hidden, ranges[network], ranges[network + 1], blocks.begin, blocks.end, to);
    }
    meet();
  }

  // Every used network's wide half: this thread's part of all their blocks, activated where it was computed.
  void widen(const cf_feedforward* each, int count, const Operand& x, const int* ranges) {
    const int step = each[0].gated ? 2 : 1;
    const int64_t units = each[0].up.matrix->blocks / step;
    int used = 0;
    for (int network = 0; network < count; ++network) used += ranges[network] < ranges[network + 1];
    const Span mine = share(used * units);
    int64_t before = 0;
    for (int network = 0; network < count; ++network) {
      const int from = ranges[network], to = ranges[network + 1];
      if (from == to) continue;
      const int64_t begin = std::max<int64_t>(0, mine.begin - before), end = std::min(units, mine.end - before);
      before += units;
      if (begin >= end) continue;
      const cf_linear& up = each[network].up;
      multiply<I>(*up.matrix, x, from, to, begin * step, end * step, {room_.hidden.data, room_.hidden.stride, up.bias, nullptr, nullptr, false});
      for (int pair = from; pair < to; ++pair) activate_blocks(each[network], room_.hidden[pair], room_.activated[pair], begin, end);
    }
    meet();
  }

  void activate_blocks(const cf_feedforward& network, const float* wide, float* out, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const float* given = wide + unit * LANES * (network.gated ? 2 : 1);
      auto value = activate<I>(network.activation, I::load(given));
      if (network.gated) value = I::mul(value, I::load(given + LANES));
      I::store(out + unit * LANES, value);
    }
  }
};

}  // namespace clearformer
