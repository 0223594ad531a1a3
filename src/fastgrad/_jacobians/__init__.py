"""Computation of Jacobians by rows and by columns, in batches or one by one."""

from fastgrad._jacobians.jacobians import by_columns, by_columns_at_once, by_rows, is_tall  # noqa: F401
