// Every kernel for AVX2. Compiled with this instruction set's flags, so it must not be called elsewhere.
#include "isa_avx2.h"
#include "walk.h"

namespace clearformer {

void walk_avx2(const Step& step, int thread, Barrier& barrier) { walk<Avx2>(step, thread, barrier); }

}  // namespace clearformer
