"""Notice that a site changed, keep the rules that still hold, repair the others (Vertex IV-B, IV-C)."""

from untemplate.watching.bellwethers import BELLWETHERS, choose_bellwethers, finish_wrapper, watchable_pages
from untemplate.watching.healing import Healed, heal, heal_site
from untemplate.watching.judging import Alarm
from untemplate.watching.monitoring import ClusterReport, Report, watch
from untemplate.watching.repairing import Loss, Repair
from untemplate.watching.reusing import find_lender, lend_wrapper

__all__ = [
    "BELLWETHERS",
    "Alarm",
    "ClusterReport",
    "Healed",
    "Loss",
    "Repair",
    "Report",
    "choose_bellwethers",
    "find_lender",
    "finish_wrapper",
    "heal",
    "heal_site",
    "lend_wrapper",
    "watch",
    "watchable_pages",
]
