"""Notice that a site changed, keep the rules that still hold, repair the others (Vertex IV-B, IV-C)."""

from typing import TYPE_CHECKING

from untemplate.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    from untemplate.watching.bellwethers import (
        BELLWETHERS,
        add_bellwethers,
        choose_bellwethers,
        finish_wrapper,
        watchable_pages,
    )
    from untemplate.watching.crawl_tally import SITE, judge_crawl
    from untemplate.watching.healing import HealCounts, Healed, heal, heal_site
    from untemplate.watching.judging import Alarm
    from untemplate.watching.monitoring import ClusterReport, Report, renew_missing, watch
    from untemplate.watching.repair_reports import Difference, Loss, Refusal, Repair
    from untemplate.watching.reusing import BorrowedWrapper, Lender, borrow_wrapper

__all__ = [
    "BELLWETHERS",
    "SITE",
    "Alarm",
    "BorrowedWrapper",
    "ClusterReport",
    "Difference",
    "HealCounts",
    "Healed",
    "Lender",
    "Loss",
    "Refusal",
    "Repair",
    "Report",
    "add_bellwethers",
    "borrow_wrapper",
    "choose_bellwethers",
    "finish_wrapper",
    "heal",
    "heal_site",
    "judge_crawl",
    "renew_missing",
    "watch",
    "watchable_pages",
]

__getattr__ = _lazy_names(
    __name__,
    {
        "bellwethers": (
            "BELLWETHERS",
            "add_bellwethers",
            "choose_bellwethers",
            "finish_wrapper",
            "watchable_pages",
        ),
        "crawl_tally": ("SITE", "judge_crawl"),
        "healing": ("HealCounts", "Healed", "heal", "heal_site"),
        "judging": ("Alarm",),
        "monitoring": ("ClusterReport", "Report", "renew_missing", "watch"),
        "repair_reports": ("Difference", "Loss", "Refusal", "Repair"),
        "reusing": ("BorrowedWrapper", "Lender", "borrow_wrapper"),
    },
)
