"""Starts two worker processes, prints their ids, and waits to be killed."""

from __future__ import annotations

import os
import time

from untemplate.catalog.site_workers import SiteWorkers

if __name__ == "__main__":
    with SiteWorkers(2) as workers:
        for site in ("one", "two"):
            workers.start(site, os.getpid)
        print(*[workers.collect()[1].result() for _ in range(2)], flush=True)
        time.sleep(600)
