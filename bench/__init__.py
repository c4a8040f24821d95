"""Side-by-side benchmarks: every crawler over the same demo store, in its own process, in interleaved rounds."""
