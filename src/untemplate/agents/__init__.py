"""Tools for language-model agents: an MCP server over the same functions that people use."""
