"""Decides who may write what: receipts, drafts, commits."""
