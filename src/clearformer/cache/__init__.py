"""Memories of earlier positions: what decoding keeps so that nothing is computed twice."""
