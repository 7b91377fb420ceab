"""Hierarchical conditional random fields: all blocks of a page labeled together (Zhu et al., KDD 2006)."""
