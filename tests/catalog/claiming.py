"""Claims a site, says so, and waits to be killed: python claiming.py WHERE SITE."""

from __future__ import annotations

import sys
import time

from untemplate import Catalog

if __name__ == "__main__":
    where, site = sys.argv[1:]
    with Catalog.open(where) as catalog, catalog.claim(site, "watch"):
        print("claimed", flush=True)
        time.sleep(600)
