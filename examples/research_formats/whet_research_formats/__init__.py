"""Records of benchmarks, which `whet import` reads where this package is installed."""
