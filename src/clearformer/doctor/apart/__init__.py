"""The user's code in a process of its own: limits of time and memory, no secrets, no network, no flood of output.

In reading order: `request` (what is asked), `running` (the process as we watch it), `worker` (what runs in it),
`limits`, `user_code` (from `my_model.py:build` to an object), `wire` (results as lines of JSON).
"""
