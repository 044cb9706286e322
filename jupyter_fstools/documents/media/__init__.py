"""Decodes pictures and PDFs."""
