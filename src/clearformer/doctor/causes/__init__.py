"""From broken laws to a named cause: suspects are put in order, and an experiment tells the first from its rivals."""
