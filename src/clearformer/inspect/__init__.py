"""Looking inside a model while it reads: `trace` (every tensor's shape and size), `attention` (who reads whom).

Read `subject` (what is looked at) first, then `diagram` (the steps of a spec, as the paper's figure has them).
"""
