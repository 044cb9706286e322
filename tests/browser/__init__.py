"""Tests in a browser; they share one Chromium, and most of them one page."""
