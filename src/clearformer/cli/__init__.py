"""The command line: `main` finds the verb, `boundary` turns every end into an exit code, one thin file a verb."""
