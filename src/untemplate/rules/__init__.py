"""The language of rules: selectors, ranges, classifiers, their file format, words and XSLT; how rules find nodes."""

from untemplate.rules.rule import Bellwether, Profile, RecordRule, Rule, Selector, Wrapper

__all__ = ["Bellwether", "Profile", "RecordRule", "Rule", "Selector", "Wrapper"]
