"""One law a file: how it is probed, how the answer is judged, when an alarm would be false."""
