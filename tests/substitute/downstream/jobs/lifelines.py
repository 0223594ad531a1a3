"""Cox regression with splines; Weibull and log-logistic AFT."""

from lifelines import CoxPHFitter, LogLogisticAFTFitter, WeibullAFTFitter
from lifelines.datasets import load_rossi

ROSSI = load_rossi()


def job():
    cox = CoxPHFitter(baseline_estimation_method="spline", n_baseline_knots=3)
    models = {"cox": cox, "weibull": WeibullAFTFitter(), "loglogistic": LogLogisticAFTFitter()}
    for model in models.values():
        model.fit(ROSSI, duration_col="week", event_col="arrest")
    return {name: [model.params_.values, model.standard_errors_.values] for name, model in models.items()}
