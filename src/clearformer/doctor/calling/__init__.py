"""How a module is called: found by signature and trial, or given with `--call`."""
