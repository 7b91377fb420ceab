"""The hierarchical CRF over the blocks of a page, and the names it gives to the columns of a list."""
