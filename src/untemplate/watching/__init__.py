"""Notice that a site changed, keep the rules that still hold, repair the others (Vertex IV-B, IV-C)."""

from untemplate.watching.alarm import Alarm, ClusterReport, Report
from untemplate.watching.bellwethers import BELLWETHERS, POOL, remember
from untemplate.watching.heal import Healed, Loss, Repair, heal, heal_site
from untemplate.watching.watch import watch

__all__ = [
    "BELLWETHERS",
    "POOL",
    "Alarm",
    "ClusterReport",
    "Healed",
    "Loss",
    "Repair",
    "Report",
    "heal",
    "heal_site",
    "remember",
    "watch",
]
