"""Going through folders: what glob, grep, listings and suggestions of names share."""
