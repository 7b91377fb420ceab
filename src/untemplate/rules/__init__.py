"""The language of rules: selectors, ranges, classifier, file format, rules in words, differences, XSLT."""

from untemplate.rules.rule import Bellwether, Profile, RecordRule, Rule, Selector, Wrapper

__all__ = ["Bellwether", "Profile", "RecordRule", "Rule", "Selector", "Wrapper"]
