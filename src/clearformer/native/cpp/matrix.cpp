#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pool.h"
#include "source.h"

namespace {

using namespace clearformer;

// Fewer are packed sooner than a thread begins.
constexpr int64_t BYTES_A_THREAD = 256 << 10;

// Where one row of a packed matrix lies.
struct Place {
  char* block;
  int lane;
  size_t scales_at;

  // A group of 32 bytes, and of 32 numbers from 0 to 15: four columns a word.
  void bytes8(int64_t group, const uint8_t* bytes) const {
    for (int word = 0; word < 8; ++word) memcpy(block + group * 512 + word * 64 + lane * 4, bytes + word * 4, 4);
  }
  void nibbles4(int64_t group, const uint8_t* numbers) const {
    for (int word = 0; word < 4; ++word, numbers += 8) {
      uint8_t joined[4];
      for (int i = 0; i < 4; ++i) joined[i] = uint8_t(numbers[i] | numbers[i + 4] << 4);
      memcpy(block + group * 256 + word * 64 + lane * 4, joined, 4);
    }
  }
  uint16_t& scale8(int64_t group) const { return reinterpret_cast<uint16_t*>(block + scales_at)[group * LANES + lane]; }
  uint16_t& scale4(int64_t group) const { return reinterpret_cast<uint16_t*>(block + scales_at)[group * 2 * LANES + lane]; }
  uint16_t& minimum4(int64_t group) const { return (&scale4(group))[LANES]; }
};

// A half that is finite wherever the number is: weights past 65504 are the largest half.
uint16_t finite_half(float x) { return to_half(std::isfinite(x) ? std::clamp(x, -65504.0f, 65504.0f) : x); }

// Numbers that are no numbers make their group NaN: a damaged model shows in its logits.
void quantise8(const float* x, const Place& place, int64_t group) {
  float most = 0, poison = 0;
  for (int i = 0; i < GROUP; ++i) {
    most = std::max(most, std::fabs(x[i]));
    poison += x[i] * 0;
  }
  const uint16_t half = finite_half(most / 127 + poison);
  const float scale = from_half(half), inverse = scale > 0 ? 1 / scale : 0;
  uint8_t bytes[GROUP];
  for (int i = 0; i < GROUP; ++i) {
    const float whole = scale > 0 ? std::clamp(std::nearbyint(x[i] * inverse), -127.0f, 127.0f) : 0;
    bytes[i] = uint8_t(int(whole) + 128);
  }
  place.bytes8(group, bytes);
  place.scale8(group) = half;
}

void quantise4(const float* x, const Place& place, int64_t group) {
  float low = x[0], high = x[0], poison = 0;
  for (int i = 0; i < GROUP; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
    poison += x[i] * 0;
  }
  const uint16_t minimum = finite_half(low + poison), half = finite_half((high - from_half(minimum)) / 15 + poison);
  const float scale = from_half(half), from = from_half(minimum), inverse = scale > 0 ? 1 / scale : 0;
  uint8_t numbers[GROUP];
  for (int i = 0; i < GROUP; ++i) numbers[i] = scale > 0 ? uint8_t(std::clamp(std::nearbyint((x[i] - from) * inverse), 0.0f, 15.0f)) : 0;
  place.nibbles4(group, numbers);
  place.scale4(group) = half;
  place.minimum4(group) = minimum;
}

// Q8_0 and Q4_0 as int8, bit for bit.
bool repack8(cf_source source, const char* row, int64_t groups, const Place& place) {
  if (source != CF_FROM_Q8_0 && source != CF_FROM_Q4_0) return false;
  uint8_t bytes[GROUP];
  for (int64_t group = 0; group < groups; ++group) {
    if (source == CF_FROM_Q8_0) {
      const Q8_0& q = block_of<Q8_0>(row, group);
      for (int i = 0; i < GROUP; ++i) bytes[i] = uint8_t(q.bytes[i] + 128);
      place.scale8(group) = q.scale;
    } else {
      const Q4_0& q = block_of<Q4_0>(row, group);
      nibbles_of(q.nibbles, bytes);
      for (int i = 0; i < GROUP; ++i) bytes[i] = uint8_t(bytes[i] + 120);
      place.scale8(group) = q.scale;
    }
    place.bytes8(group, bytes);
  }
  return true;
}

// Q4_1 and Q4_0 as int4: the nibbles as they are; Q4_0's minimum, −8 · scale, is a half too.
bool repack4(cf_source source, const char* row, int64_t groups, const Place& place) {
  if (source != CF_FROM_Q4_1 && source != CF_FROM_Q4_0) return false;
  uint8_t numbers[GROUP];
  for (int64_t group = 0; group < groups; ++group) {
    const bool one = source == CF_FROM_Q4_1;
    const Q4_1& q1 = block_of<Q4_1>(row, group);
    const Q4_0& q0 = block_of<Q4_0>(row, group);
    nibbles_of(one ? q1.nibbles : q0.nibbles, numbers);
    place.nibbles4(group, numbers);
    place.scale4(group) = one ? q1.scale : q0.scale;
    place.minimum4(group) = one ? q1.minimum : finite_half(-8 * from_half(q0.scale));
  }
  return true;
}

void quantise(const cf_matrix& m, cf_source source, const char* row, const Place& place, float* numbers) {
  const bool eight = m.format != CF_INT4;
  if (eight ? repack8(source, row, m.groups, place) : repack4(source, row, m.groups, place)) return;
  decode(source, row, m.columns, numbers);
  for (int64_t group = 0; group < m.groups; ++group)
    eight ? quantise8(numbers + group * GROUP, place, group) : quantise4(numbers + group * GROUP, place, group);
}

// `count` rows that follow each other in a block; `numbers` holds them one after the other.
void place_floats(const float* numbers, int64_t columns, int count, const Place& place) {
  float* out = reinterpret_cast<float*>(place.block) + place.lane;
  for (int64_t at = 0; at < columns; ++at, out += LANES)
    for (int row = 0; row < count; ++row) out[row] = numbers[row * columns + at];
}

void place_bfloats(const float* numbers, int64_t columns, int count, const Place& place) {
  uint16_t* out = reinterpret_cast<uint16_t*>(place.block) + 2 * place.lane;
  for (int64_t at = 0; at < columns; at += 2, out += 2 * LANES)
    for (int row = 0; row < count; ++row) {
      out[2 * row] = to_bfloat16(numbers[row * columns + at]);
      out[2 * row + 1] = to_bfloat16(numbers[row * columns + at + 1]);
    }
}

size_t bytes_of_block(cf_format format, int64_t padded_columns) {
  switch (format) {
    case CF_FLOAT32: return padded_columns * 64;
    case CF_BFLOAT16: return padded_columns * 32;
    case CF_INT8:
    case CF_INT8_FINE: return padded(padded_columns / GROUP * (512 + 32), 64);
    default: return padded_columns / GROUP * (256 + 64);
  }
}

// Source rows `from` to `end`; `numbers` has room for 16 of them.
void pack(cf_matrix& m, cf_source source, const char* data, int64_t from, int64_t end, Target target, float* numbers) {
  const int64_t bytes = int64_t(row_bytes(source, m.columns));
  while (from < end) {
    const int64_t row = target(from);
    // Rows that follow each other in one block: of floats, each line of it is then written once.
    int together = 1;
    while (from + together < end && target(from + together) == row + together && (row + together) % LANES) ++together;
    const char* given = data + from * bytes;
    Place place{m.memory.data() + row / LANES * m.block_bytes, int(row % LANES), m.scales_at()};
    if (rounds_activations(m.format)) {
      for (int each = 0; each < together; ++each, ++place.lane, given += bytes) quantise(m, source, given, place, numbers);
    } else {
      for (int each = 0; each < together; ++each) decode(source, given + each * bytes, m.columns, numbers + each * m.padded_columns);
      m.format == CF_FLOAT32 ? place_floats(numbers, m.padded_columns, together, place)
                             : place_bfloats(numbers, m.padded_columns, together, place);
    }
    from += together;
  }
}

}  // namespace

cf_matrix::cf_matrix(cf_format format, int64_t rows, int64_t columns)
    : format(format),
      rows(rows),
      columns(columns),
      blocks(int64_t(padded(rows, LANES)) / LANES),
      padded_columns(padded(columns, GROUP)),
      groups(padded_columns / GROUP),
      block_bytes(bytes_of_block(format, padded_columns)),
      memory(blocks * block_bytes) {
  // A padding row's bytes are 0 and its scale 0: its products are 0 · −128 · Σ, which is 0.
}

void cf_matrix::fill(cf_source source, const char* data, int64_t count, Target target, int threads) {
  const int64_t bytes = int64_t(row_bytes(source, columns));
  Pool pool(int(std::clamp<int64_t>(count * bytes / BYTES_A_THREAD, 1, threads)));
  const int64_t room = LANES * padded_columns;
  std::vector<float> numbers(pool.threads() * room, 0.0f);
  // Each thread's pages are first touched by it: a large one is cleared then, which takes longer than its packing.
  pool.run([&](int thread, Barrier&) {
    const auto begins = [&](int64_t part) { return std::min(count, int64_t(padded(count * part / pool.threads(), LANES))); };
    pack(*this, source, data, begins(thread), begins(thread + 1), target, numbers.data() + thread * room);
  });
}

void cf_matrix::read(int64_t row, float* out) const {
  const Place place{const_cast<char*>(block(row / LANES)), int(row % LANES), scales_at()};
  for (int64_t at = 0; at < columns; ++at) {
    const int64_t group = at / GROUP;
    const int i = int(at % GROUP);
    switch (format) {
      case CF_FLOAT32: out[at] = reinterpret_cast<const float*>(place.block)[at * LANES + place.lane]; break;
      case CF_BFLOAT16:
        out[at] = from_bfloat16(reinterpret_cast<const uint16_t*>(place.block)[at / 2 * 2 * LANES + 2 * place.lane + at % 2]);
        break;
      case CF_INT8:
      case CF_INT8_FINE: out[at] = from_half(place.scale8(group)) * float(int(reinterpret_cast<const uint8_t*>(place.block)[group * 512 + i / 4 * 64 + place.lane * 4 + i % 4]) - 128); break;
      case CF_INT4: {
        const uint8_t byte = reinterpret_cast<const uint8_t*>(place.block)[group * 256 + i / 8 * 64 + place.lane * 4 + i % 4];
        out[at] = from_half(place.scale4(group)) * float(i % 8 < 4 ? byte & 15 : byte >> 4) + from_half(place.minimum4(group));
        break;
      }
    }
  }
}
