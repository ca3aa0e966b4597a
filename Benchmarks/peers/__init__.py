# SPDX-License-Identifier: Apache-2.0
"""What others take for the same work: Kalman filters and readers of text, from PyPI.

Each is optional: one that is not installed is left out, with a word.
"""
