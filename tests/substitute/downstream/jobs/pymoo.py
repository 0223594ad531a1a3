"""Gradients of test problems for whole populations."""

import numpy as onp
from pymoo.gradient.automatic import AutomaticDifferentiation
from pymoo.problems import get_problem

PROBLEMS = [("zdt1", {}), ("zdt4", {}), ("dtlz2", {}), ("rosenbrock", {"n_var": 20}), ("ackley", {"n_var": 20})]


def job():
    results = {}
    for name, options in PROBLEMS:
        problem = AutomaticDifferentiation(get_problem(name, **options))
        lower, upper = problem.bounds()
        population = lower + (upper - lower) * onp.random.default_rng(0).uniform(0.1, 0.9, (50, problem.n_var))
        out = problem.evaluate(population, return_values_of=["F", "dF"])
        results[name] = list(out)
    return results
