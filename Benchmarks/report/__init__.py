# SPDX-License-Identifier: Apache-2.0
"""Gathers what the benchmarks measured, holds it against the baseline and the goals, prints it.

Needs nothing but Python's own library.
"""
