"""Hierarchical conditional random fields: all blocks of a page labelled together (Zhu et al., KDD 2006)."""
