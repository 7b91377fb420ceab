"""Page and rules to record: match, apply, normalize (Vertex IV-A); for one site, or for a crawl of many."""

from untemplate.extraction.crawl_rules import CrawlRules, OneSite, PageExtractor, PageRecords, SiteRules
from untemplate.extraction.extractor import Rules

__all__ = ["CrawlRules", "OneSite", "PageExtractor", "PageRecords", "Rules", "SiteRules"]
