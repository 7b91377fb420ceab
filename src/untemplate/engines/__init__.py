"""Where extraction runs: one batch function, and the engines that feed it."""
