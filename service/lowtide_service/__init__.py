"""The HTTP service: graphs are solved in worker processes, and every certificate is kept."""
