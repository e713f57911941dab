#include "routing.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace clearformer {

namespace {

void softmax(float* x, int count) {
  const float most = *std::max_element(x, x + count);
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += x[i] = std::exp(x[i] - most);
  for (int i = 0; i < count; ++i) x[i] /= sum;
}

// Indices of the `active` largest, the largest first, the earlier of equals first. What is no number comes last.
std::vector<int> best(const float* x, int count, int active) {
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i) order[i] = i;
  auto value = [&](int i) { return std::isnan(x[i]) ? -INFINITY : x[i]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) > value(b); });
  order.resize(active);
  return order;
}

// Experts outside the `groups_kept` best groups are out of reach.
void keep_groups(const cf_mixture& mixture, std::vector<float>& preference) {
  const int size = mixture.count / mixture.groups;
  std::vector<float> worth(mixture.groups);
  for (int group = 0; group < mixture.groups; ++group) {
    const float* own = preference.data() + group * size;
    for (int expert : best(own, size, mixture.best_two ? 2 : 1)) worth[group] += own[expert];
  }
  std::vector<bool> kept(mixture.groups, false);
  for (int group : best(worth.data(), mixture.groups, mixture.groups_kept)) kept[group] = true;
  for (int expert = 0; expert < mixture.count; ++expert)
    if (!kept[expert / size]) preference[expert] = -INFINITY;
}

}  // namespace

void route(const cf_mixture& mixture, const float* scores, int32_t* chosen, float* weights) {
  std::vector<float> shares(scores, scores + mixture.count);
  if (mixture.router_kind == CF_SOFTMAX_BEFORE) softmax(shares.data(), mixture.count);
  if (mixture.router_kind == CF_SIGMOID)
    for (float& share : shares) share = 1 / (1 + std::exp(-share));
  // From 17 on a sigmoid rounds to one; where order alone decides, the scores still have it.
  const bool by_order = mixture.router_kind == CF_SIGMOID && !mixture.selection_bias && !(mixture.groups && mixture.best_two);
  std::vector<float> preference = by_order ? std::vector<float>(scores, scores + mixture.count) : shares;
  if (mixture.selection_bias)
    for (int expert = 0; expert < mixture.count; ++expert) preference[expert] += mixture.selection_bias[expert];
  if (mixture.groups) keep_groups(mixture, preference);
  const std::vector<int> taken = best(preference.data(), mixture.count, mixture.active);
  for (int rank = 0; rank < mixture.active; ++rank) {
    chosen[rank] = taken[rank];
    weights[rank] = shares[taken[rank]];
  }
  if (mixture.router_kind == CF_SOFTMAX_AFTER) softmax(weights, mixture.active);
  float sum = 1e-20f;
  for (int rank = 0; rank < mixture.active; ++rank) sum += weights[rank];
  for (int rank = 0; rank < mixture.active; ++rank) weights[rank] *= mixture.scale / (mixture.normalise ? sum : 1);
}

}  // namespace clearformer
