"""Customer lifetime models: BG/NBD, MBG/NBD, gamma-gamma."""

from lifetimes import BetaGeoFitter, GammaGammaFitter, ModifiedBetaGeoFitter
from lifetimes.datasets import load_cdnow_summary, load_cdnow_summary_data_with_monetary_value

DATA = load_cdnow_summary(index_col=[0])
SPENT = load_cdnow_summary_data_with_monetary_value()
SPENT = SPENT[SPENT["frequency"] > 0]


def job():
    results = {}
    for fitter in (BetaGeoFitter, ModifiedBetaGeoFitter):
        model = fitter(penalizer_coef=0.01).fit(DATA["frequency"], DATA["recency"], DATA["T"])
        results[fitter.__name__] = model.params_.values
    model = GammaGammaFitter(penalizer_coef=0.01).fit(SPENT["frequency"], SPENT["monetary_value"])
    results["GammaGammaFitter"] = [model.params_.values, model.standard_errors_.values]
    return results
