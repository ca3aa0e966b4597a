# SPDX-License-Identifier: Apache-2.0
"""Whole batches: how they scale with the cores, and what memory they take."""
