"""Design a mirror for heat that lets light through: the layers of an optical coating, found by gradients.

    python examples/thin_film.py [--output thin_film.png] [--quick]

Thin layers of silica and titania, alternating on glass, reflect a band of the spectrum, because the waves reflected at
their boundaries add up. Equal quarter-wave layers make a good mirror, but with ripples beside its band. Here the
thickness of each layer is free, and the stack should transmit visible light and reflect the near infrared, at normal
incidence and at 30°. A complex 2 x 2 matrix describes how light passes a layer, so the gradient goes through complex
arithmetic.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure
from scipy.optimize import minimize

import fastgrad.numpy as np
from fastgrad import value_and_grad

PASS, STOP = (420.0, 680.0), (800.0, 1050.0)  # the bands, in nm
GLASS = 1.52
# The incident light: angle in air and polarization.
RAYS = ((0.0, "s"), (30.0, "s"), (30.0, "p"))


def silica(wavelength):
    """Return the refractive index of fused silica (Malitson 1965)."""
    x = (wavelength / 1000.0) ** 2
    terms = ((0.6961663, 0.0684043), (0.4079426, 0.1162414), (0.8974794, 9.896161))
    return numpy.sqrt(1.0 + sum(b * x / (x - c**2) for b, c in terms))


def titania(wavelength):
    """Return the refractive index of titania films, by Cauchy's formula with typical coefficients."""
    x = (wavelength / 1000.0) ** 2
    return 2.20 + 0.020 / x + 0.0025 / x**2


def reflectance(thicknesses, wavelengths, rays=RAYS):
    """Return the reflected part of the power, shape (rays, wavelengths); the first layer is the outermost."""
    sines = numpy.sin(numpy.radians([angle for angle, _ in rays]))[:, None]
    is_p = numpy.array([polarization == "p" for _, polarization in rays])[:, None]

    def across(index):
        """Return the index times the cosine of the angle inside, by Snell's law, and the optical admittance."""
        normal = numpy.sqrt(index**2 - sines**2)
        return normal, numpy.where(is_p, index**2 / normal, normal)

    media = [across(silica(wavelengths)), across(titania(wavelengths))]
    # The electric and the magnetic field, from the glass outwards.
    electric, magnetic = 1.0, across(GLASS)[1] + 0j
    for i in range(len(thicknesses) - 1, -1, -1):
        normal, admittance = media[i % 2]
        phase = 2.0 * np.pi * thicknesses[i] * normal / wavelengths
        c, s = np.cos(phase), 1j * np.sin(phase)
        electric, magnetic = c * electric + s / admittance * magnetic, s * admittance * electric + c * magnetic
    outside = across(1.0)[1]
    return np.abs((outside * electric - magnetic) / (outside * electric + magnetic)) ** 2


def mean_square_miss(thicknesses, wavelengths):
    """Return the mean squared distance from the wanted reflectance: 0 in one band, 1 in the other."""
    wish = (wavelengths > 0.5 * (PASS[1] + STOP[0])).astype(float)
    return np.mean((reflectance(thicknesses, wavelengths) - wish) ** 2)


def quarter_waves(layers, wavelength):
    """Return layers a quarter of the wavelength thick."""
    return numpy.array([wavelength / (4.0 * (titania if i % 2 else silica)(wavelength)) for i in range(layers)])


def draw(path, before, after):
    """Draw the spectra and the thicknesses, and save the figure."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    spectrum, layers = figure.subplots(2, 1, height_ratios=(2, 1))
    wavelengths = numpy.linspace(380.0, 1150.0, 771)
    for band, name in (PASS, "wanted: transmitted"), (STOP, "wanted: reflected"):
        spectrum.axvspan(*band, color="#F2F2F2", zorder=0)
        spectrum.text(sum(band) / 2, 1.04, name, ha="center")
    for thicknesses, color, name in (before, "#8C8C8C", "quarter waves"), (after, "#0072B2", "optimized"):
        rows = reflectance(thicknesses, wavelengths)
        spectrum.plot(wavelengths, rows[0], color=color, label=f"{name}, 0°")
    spectrum.plot(wavelengths, rows[1:].mean(axis=0), color="#D55E00", linestyle="--", label="optimized, 30°")
    spectrum.set(xlabel="wavelength (nm)", ylabel="reflectance", xlim=(380, 1150), ylim=(0, 1.12))
    spectrum.legend(frameon=False, loc="center", bbox_to_anchor=(0.72, 0.5))
    places = numpy.arange(1, len(after) + 1)
    layers.bar(places[1::2], after[1::2], color="#0072B2", label="titania")
    layers.bar(places[::2], after[::2], color="#E69F00", label="silica")
    layers.step(places, before, where="mid", color="#8C8C8C", label="quarter waves")
    layers.set(xlabel="layer, from the air to the glass", ylabel="thickness (nm)", xlim=(0, len(after) + 1))
    layers.set(ylim=(0, 1.35 * max(after)))
    layers.legend(frameon=False, ncols=3, loc="upper right")
    for axes in spectrum, layers:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Design, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="thin_film.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with fewer layers and steps")
    options = parser.parse_args(argv)
    layers, points, steps = (17, 40, 60) if options.quick else (29, 120, 1000)
    wavelengths = numpy.concatenate([numpy.linspace(*PASS, points), numpy.linspace(*STOP, points)])
    before = quarter_waves(layers, 910.0)

    start = time.perf_counter()
    # In units of where it starts, each thickness is about 1, as an optimizer likes it; none may get too thin to make.
    fit = minimize(
        value_and_grad(lambda x: mean_square_miss(x * before, wavelengths)), numpy.ones(layers), jac=True,
        method="L-BFGS-B", bounds=[(20.0 / d, 400.0 / d) for d in before],
        options={"maxiter": steps, "ftol": 1e-12, "gtol": 1e-8},
    )  # fmt: skip
    after, seconds = fit.x * before, time.perf_counter() - start

    bands = []
    for thicknesses in before, after:
        rows = reflectance(thicknesses, wavelengths)
        bands.append((rows[:, :points].mean(), rows[:, points:].mean()))
    print(f"{layers} layers, {2 * points} wavelengths, {len(RAYS)} rays: {fit.njev} gradients in {seconds:.2f} s")
    print("Mean reflectance   visible  infrared")
    for name, (visible, infrared) in zip(("quarter waves", "optimized"), bands, strict=True):
        print(f"  {name:16} {visible:7.2%}  {infrared:8.2%}")
    draw(options.output, before, after)
    return {"before": bands[0], "after": bands[1], "thicknesses": after, "fit": fit}


if __name__ == "__main__":
    main()
