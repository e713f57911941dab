// Every kernel for plain C++.
#include "isa_plain.h"
#include "walk.h"

namespace clearformer {

void walk_plain(const Step& step, int thread, Barrier& barrier) { walk<Plain>(step, thread, barrier); }

}  // namespace clearformer
