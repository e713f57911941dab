"""The families as llama.cpp keeps them: metadata and tensor names of GGUF files, one small file each, read and written.

Its own code is the reference: `conversion/` for what it writes, `src/models/` for what it then computes.
"""
