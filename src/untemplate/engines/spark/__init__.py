"""Extraction and learning on Spark: the same rules and the same records, on as many machines as there are."""

from typing import TYPE_CHECKING

from untemplate.errors import MissingExtra
from untemplate.lazy_names import lazy_names as _lazy_names

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtra("spark", "Support for Spark") from error

if TYPE_CHECKING:
    from untemplate.engines.spark.crawls import extract_crawl
    from untemplate.engines.spark.extract_jobs import extract_on_spark
    from untemplate.engines.spark.job_io import start_session
    from untemplate.engines.spark.learn_jobs import combine_rules, learn_sites, save_learned

__all__ = [
    "combine_rules",
    "extract_crawl",
    "extract_on_spark",
    "learn_sites",
    "save_learned",
    "start_session",
]

__getattr__ = _lazy_names(
    __name__,
    {
        "crawls": ("extract_crawl",),
        "extract_jobs": ("extract_on_spark",),
        "job_io": ("start_session",),
        "learn_jobs": ("combine_rules", "learn_sites", "save_learned"),
    },
)
