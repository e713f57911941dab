// Every kernel for AVX-512, with its dot products of bytes. Compiled with this instruction set's flags, so it must not be called elsewhere.
#include "isa_avx512.h"
#include "walk.h"

namespace clearformer {

void walk_avx512(const Step& step, int thread, Barrier& barrier) { walk<Avx512>(step, thread, barrier); }

}  // namespace clearformer
