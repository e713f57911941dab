"""Looking inside a model while it reads: shapes, activations, attention, and what each layer would say.

Read `subject` (what is looked at) first, then `diagram` (the steps of a block, as the paper's figure has them) and
`plan` (every tensor's shape, from the spec alone). `trace` measures them, `eight_steps` writes one attention out;
`capture`, `edit` and `gradients` keep, change and differentiate them by the same names (`points`). `attention`, `lens`
and `positions` answer one question each, and have their pictures beside them.
"""
