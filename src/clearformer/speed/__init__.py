"""What makes a plain model fast, applied from outside: the layers stay as they are written."""
