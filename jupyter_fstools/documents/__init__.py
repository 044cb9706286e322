"""What a file's bytes mean: text, notebook, image, pdf."""
