"""Where the paper is tried out: the seven demonstrations, in NumPy alone."""
