"""Soaks servers, kernels, a browser and processes against a model, with kills, full disks and clock jumps."""
