"""Placeholder."""
balanced_eq = None
