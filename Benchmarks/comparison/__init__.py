# SPDX-License-Identifier: Apache-2.0
"""Nearby beside an extended Kalman filter and an incremental smoother, on the same recordings.

Inside this package worlds are z up and device axes are x forward, y left, z up (ROS), because the
peers' libraries have planar types that expect so. `recordings` turns everything on the way in.
"""
