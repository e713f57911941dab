"""The five ways to say where a token stands, one a file."""
