"""Ships conformance suites for backends and stores."""
