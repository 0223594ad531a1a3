"""The operators that `fastgrad.differential_operators` offers, by subject."""
