// Which experts a token is sent to, and with what weight.
#pragma once
#include "abi.h"

namespace clearformer {

// The `active` chosen experts, the best first, and their weights, of one token's `count` scores.
void route(const cf_mixture& mixture, const float* scores, int32_t* chosen, float* weights);

}  // namespace clearformer
