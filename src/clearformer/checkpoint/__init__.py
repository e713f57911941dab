"""Model files, read without trust and written without loss.

Reading order: `reading` (bounded files and JSON) → `tensor_file` (what every weight file offers) → `safetensors_file`,
`gguf_header`, `gguf_file` → `folder` (a Hugging Face folder) → `renames` (foreign names to ours and back) →
`atomic`, `writing`, `manifest`.
"""
