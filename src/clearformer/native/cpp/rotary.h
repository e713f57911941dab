// A head's vector turned by its position: (a, b) becomes (a cos − b sin, b cos + a sin).
#pragma once
#include <cstdint>

namespace clearformer {

// `angles` holds width / 2 cosines, then as many sines. Pairs lie half a width apart, or side by side.
static inline void rotate(float* head, int32_t width, bool interleaved, const float* angles) {
  const int32_t half = width / 2;
  const float *cosines = angles, *sines = angles + half;
  const int32_t first = interleaved ? 2 : 1, apart = interleaved ? 1 : half;
  for (int32_t pair = 0; pair < half; ++pair) {
    float &a = head[pair * first], &b = head[pair * first + apart];
    const float turned = a * cosines[pair] - b * sines[pair];
    b = b * cosines[pair] + a * sines[pair];
    a = turned;
  }
}

}  // namespace clearformer
