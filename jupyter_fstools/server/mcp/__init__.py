"""The Model Context Protocol: the tools for every assistant that speaks it, over streamable HTTP."""
