"""Decode kernels in C++ behind a C interface: packed weights, one call for one token through all layers.

Read `cpp/abi.h` first: it says what a program is. Then `cpp/matrix.h` (how weights lie), `cpp/product.h`,
`cpp/attention.h` and `cpp/walk.h`, which is the forward pass. In Python: `building` compiles, `library` finds and
refuses, `structures` mirrors the interface, `matrix` packs, `engine` runs. No torch here.
"""
