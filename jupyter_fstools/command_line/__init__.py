"""Provides the `jupyter fstools` commands and the stdio bridge."""
