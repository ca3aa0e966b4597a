#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the floor of an update as straight-line C++: `generate.py | clang-format > Update.cpp`.

The model is that of CNearbyKernels for one hypothesis about a peer at rest: a prediction, then
range, azimuth and elevation as scalar updates, each linearised where the one before has left the
state. Here every element is a variable of its own, every index is known, nothing branches and
nothing is done for a second hypothesis.
"""

from __future__ import annotations

import re

SIZE = 10
SCALE = 3
# component: its index, its bias' and its wander's place in the state
COMPONENTS = {"range": (0, 4, 7), "azimuth": (1, 5, 8), "elevation": (2, 6, 9)}

HEADING = """\
// SPDX-License-Identifier: Apache-2.0
//
// Written by generate.py, which says what this is; change that and run it again.

#include <cmath>

#include "CFloors.h"

namespace {

constexpr double turn = 2 * M_PI;

/// The same angle in [-pi, pi]; adding and taking away what has no room for fractions rounds.
inline double wrapped(double angle) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
  return angle - turn * ((angle * (1 / turn) + shift) - shift);
}

inline double gaussian(double squared, double inverse) {
  return 0.3989422804014327 * std::exp(-0.5 * squared * inverse) * std::sqrt(inverse);
}

}  // namespace
"""


def packed(row: int, column: int) -> int:
    """Where an element stands in the packed upper triangle, column by column."""
    row, column = min(row, column), max(row, column)
    return column * (column + 1) // 2 + row


def p(row: int, column: int) -> str:
    """The variable that holds an element of the covariance."""
    return f"p{min(row, column)}{max(row, column)}"


def load() -> list[str]:
    """Takes the state out of memory."""
    lines = [f"double x{i} = state->mean[{i}];" for i in range(SIZE)]
    for column in range(SIZE):
        for row in range(column + 1):
            at = packed(row, column)
            lines.append(f"double {p(row, column)} = state->covariance[{at}];")
    return lines


def store() -> list[str]:
    """Puts the state back."""
    lines = [f"state->mean[{i}] = x{i};" for i in range(SIZE)]
    for column in range(SIZE):
        for row in range(column + 1):
            lines.append(f"state->covariance[{packed(row, column)}] = {p(row, column)};")
    return lines


def propagate() -> list[str]:
    """The prediction: the odometry drifts, the wandering errors decorrelate."""
    lines = [
        "const double dx = x0 - motion->device_in_world[0];",
        "const double dz = x2 - motion->device_in_world[2];",
        f"{p(0, 0)} += motion->horizontal_diffusion + motion->yaw_diffusion * dz * dz;",
        f"{p(0, 2)} -= motion->yaw_diffusion * dz * dx;",
        f"{p(1, 1)} += motion->vertical_diffusion;",
        f"{p(2, 2)} += motion->horizontal_diffusion + motion->yaw_diffusion * dx * dx;",
    ]
    factor = {}
    for name, (_, _, wander) in COMPONENTS.items():
        factor[wander] = f"{name}_factor"
        lines.append(f"const double {name}_factor = errors->{name};")
        lines.append(f"x{wander} *= {name}_factor;")
    for column in range(SIZE):
        for row in range(column + 1):
            factors = [factor[i] for i in (row, column) if i in factor]
            if factors:
                lines.append(f"{p(row, column)} *= {' * '.join(factors)};")
    for name, (_, _, wander) in COMPONENTS.items():
        lines.append(f"{p(wander, wander)} += errors->{name}_added;")
    return lines


def to_device(*axes: int) -> list[str]:
    """The vector from the antenna to the peer, along some of the device's axes."""
    lines = [f"const double v{i} = x{i} - from->antenna_in_world[{i}];" for i in range(3)]
    for i in axes:
        terms = (f"from->device_from_world[{3 * i + j}] * v{j}" for j in range(3))
        lines.append(f"const double d{i} = {' + '.join(terms)};")
    return lines


def to_world(*in_device: str) -> list[str]:
    """The gradient in the world, from that in device axes."""
    lines = []
    for i in range(3):
        terms = (
            f"from->device_from_world[{3 * j + i}] * {value}"
            for j, value in enumerate(in_device)
            if value
        )
        lines.append(f"const double g{i} = {' + '.join(terms)};")
    return lines


def model(name: str) -> list[str]:
    """The prediction `z` of a component, and its gradient `g0` to `g2`."""
    _, bias, wander = COMPONENTS[name]
    errors = f"x{bias} + x{wander}"
    if name == "azimuth":
        return [
            *to_device(0, 2),
            "const double over = 1 / (d0 * d0 + d2 * d2);",
            f"const double z = std::atan2(d0, -d2) + {errors};",
            *to_world("(-d2 * over)", "", "(d0 * over)"),
        ]
    if name == "elevation":
        return [
            *to_device(0, 1, 2),
            "const double level2 = d0 * d0 + d2 * d2;",
            "const double level = std::sqrt(level2);",
            "const double over = 1 / (level2 + d1 * d1);",
            "const double slope = -d1 * over / level;",
            f"const double z = std::atan2(d1, level) + {errors};",
            *to_world("(d0 * slope)", "(level * over)", "(d2 * slope)"),
        ]
    return [
        *(f"const double v{i} = x{i} - from->antenna_in_world[{i}];" for i in range(3)),
        "const double distance = std::sqrt(v0 * v0 + v1 * v1 + v2 * v2);",
        f"const double scale = 1 + x{SCALE};",
        "const double unit = scale / distance;",
        f"const double z = scale * distance + {errors};",
        *(f"const double g{i} = unit * v{i};" for i in range(3)),
    ]


def gain(name: str) -> list[str]:
    """The covariance of the state with the prediction, and the innovation with its variance."""
    index, bias, wander = COMPONENTS[name]
    scaled = name == "range"
    lines = []
    for i in range(SIZE):
        terms = [f"{p(i, j)} * g{j}" for j in range(3)] + [p(i, bias), p(i, wander)]
        if scaled:
            terms.append(f"{p(i, SCALE)} * distance")
        lines.append(f"const double k{i} = {' + '.join(terms)};")
    terms = [f"k{j} * g{j}" for j in range(3)] + [f"k{bias}", f"k{wander}"]
    if scaled:
        terms.append(f"k{SCALE} * distance")
    residual = f"from->value[{index}] - z"
    return [
        *lines,
        f"const double variance = {' + '.join(terms)} + from->variance[{index}];",
        "const double inverse = 1 / variance;",
        f"const double innovation = {residual if scaled else f'wrapped({residual})'};",
    ]


def correct() -> list[str]:
    """The posterior's moments, from the gain and from `step` and `shrink`."""
    lines = [f"x{i} += k{i} * step;" for i in range(SIZE)]
    for i in range(SIZE):
        lines.append(f"const double s{i} = shrink * k{i};")
        lines += [f"{p(i, j)} -= s{i} * k{j};" for j in range(i, SIZE)]
    return lines


def record(name: str) -> list[str]:
    """What a report of the sample needs."""
    index, _, _ = COMPONENTS[name]
    return [
        f"state->innovation[{index}] = innovation;",
        f"state->innovation_variance[{index}] = variance;",
    ]


def mixture(name: str) -> list[str]:
    """The step with faults thought of: probabilities of each kind, and the posterior's share."""
    index, _, _ = COMPONENTS[name]
    lines = [
        f"const double faulty = state->fault[{index}];",
        f"const double begins = from->fault_onset[{index}] * (1 - faulty);",
        "const double lasts = errors->fault * faulty;",
        "const double squared = innovation * innovation;",
    ]
    if name == "range":
        lines += [
            "const double rate = 1 / from->range_excess;",
            "const double edge = 1 + std::exp(-1.702 * innovation * std::sqrt(inverse));",
            "const double tail = std::exp(-std::fmax(innovation, 0.0) * rate) * rate / edge;",
            "const double fresh = 0.75 * tail + 0.25 / 30 * rate;",
            "const double again = innovation - state->range_residual;",
            "const double changed = (1 - errors->fault * errors->fault) * from->lasting_range_variance;",
            "const double spread = variance + from->variance[0] + changed;",
            "const double lasting = 0.9 * gaussian(again * again, 1 / spread) + 0.1 * fresh;",
            "state->range_residual = innovation;",
        ]
    else:
        mirrored = ""
        if name == "azimuth":
            lines.append("const double mirror = wrapped(innovation + M_PI - 2 * from->value[1]);")
            mirrored = " + 0.25 * gaussian(mirror * mirror, inverse)"
        lines += [
            f"const double fresh = 0.75 / from->field_of_view{mirrored};",
            f"const double again = wrapped(from->value[{index}] - from->previous[{index}]);",
            f"const double spread = variance + from->variance[{index}];",
            "const double lasting = 0.6 * gaussian(again * again, 1 / spread) + 0.4 * fresh;",
        ]
    return [
        *lines,
        "const double honest = (1 - begins - lasts) * gaussian(squared, inverse);",
        "const double density = honest + begins * fresh + lasts * lasting;",
        "const double inlier = honest / density;",
        f"state->fault[{index}] = 1 - inlier;",
        "likelihood *= density;",
        "const double step = inlier * innovation * inverse;",
        "const double shrink = inlier * inverse * (1 - (1 - inlier) * squared * inverse);",
    ]


def function(name: str, robust: bool) -> list[str]:
    """One of the two floors."""
    lines = [
        f"void {name}(floor_state *state, const nearby_motion *motion,",
        "const nearby_error_step *errors, const nearby_measurement *from) {",
        *load(),
        *propagate(),
    ]
    if robust:
        lines.append("double likelihood = 1;")
    for component in COMPONENTS:
        lines += ["{", f"// {component}", *model(component), *gain(component)]
        if robust:
            lines += mixture(component)
        else:
            lines += ["const double step = innovation * inverse;", "const double shrink = inverse;"]
        lines += [*correct(), *record(component), "}"]
    lines += store()
    if robust:
        lines.append("state->log_weight += std::log(likelihood);")
    return [*lines, "}"]


def at_once(name: str) -> list[str]:
    """The Gaussian floor with all components linearised at the prediction, the state written once."""
    lines = [
        f"void {name}(floor_state *state, const nearby_motion *motion,",
        "const nearby_error_step *errors, const nearby_measurement *from) {",
        *load(),
        *propagate(),
    ]
    own = r"(?<!->)\b([vdgk]\d|z|over|level2?|slope|distance|scale|unit|variance|inverse|innovation)\b"
    before: list[str] = []
    for component, (index, bias, wander) in COMPONENTS.items():
        body = [*model(component), *gain(component)]
        at = next(i for i, line in enumerate(body) if line.startswith("const double inverse"))
        taken, residual = [], []
        for other in before:
            terms = [f"k{j}_{other} * g{j}" for j in range(3)]
            terms += [f"k{bias}_{other}", f"k{wander}_{other}"]
            if component == "range":
                terms.append(f"k{SCALE}_{other} * distance")
            between, share = f"between_{component}_{other}", f"share_{component}_{other}"
            taken += [
                f"const double {between} = {' + '.join(terms)};",
                f"const double {share} = {between} * inverse_{other};",
            ]
            residual.append(f" - {share} * innovation_{other}")
        # The covariances are corrected by those before; they are named anew.
        raw = [re.sub(r"\bk(\d)\b", r"raw\1", line) for line in body[:at]]
        raw = [line.replace("double variance", "double alone") for line in raw]
        shares = {other: f"share_{component}_{other}" for other in before}
        corrected = [
            f"const double k{i} = raw{i}_{component}"
            + "".join(f" - {share} * k{i}_{other}" for other, share in shares.items())
            + ";"
            for i in range(SIZE)
        ]
        variance = "const double variance = alone" + "".join(
            f" - {share} * between_{component}_{other}" for other, share in shares.items()
        )
        measured = f"from->value[{index}] - z" + "".join(residual)
        innovation = measured if component == "range" else f"wrapped({measured})"
        body = [
            *raw,
            *taken,
            *corrected,
            f"{variance};",
            "const double inverse = 1 / variance;",
            f"const double innovation = {innovation};",
        ]
        names = own[:-3] + r"|raw\d|alone)\b"
        body = [re.sub(names, rf"\1_{component}", line) for line in body]
        lines += [f"// {component}", *body, *(
            re.sub(names, rf"\1_{component}", line) for line in record(component)
        )]
        before.append(component)
    for i in range(SIZE):
        terms = "".join(f" + k{i}_{c} * (innovation_{c} * inverse_{c})" for c in COMPONENTS)
        lines.append(f"x{i} = x{i}{terms};")
    for i in range(SIZE):
        lines += [f"const double s{i}_{c} = inverse_{c} * k{i}_{c};" for c in COMPONENTS]
        for j in range(i, SIZE):
            terms = "".join(f" - s{i}_{c} * k{j}_{c}" for c in COMPONENTS)
            lines.append(f"{p(i, j)} = {p(i, j)}{terms};")
    return [*lines, *store(), "}"]


print(HEADING)
print("\n".join(function("floor_update", robust=False)))
print()
print("\n".join(function("floor_robust_update", robust=True)))
print()
print("\n".join(at_once("floor_update_at_once")))
