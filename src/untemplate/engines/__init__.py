"""Where extraction runs: one function for a batch of pages, and the engines that feed it.

`local` uses the cores of this machine, `spark` those of many. Both need a POSIX system, such as Linux or macOS: they
limit time and memory of a page by signals and process limits, and lock files. `Rules.extract` runs anywhere.
"""
