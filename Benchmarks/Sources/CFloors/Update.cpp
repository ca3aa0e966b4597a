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

void floor_update(floor_state *state, const nearby_motion *motion, const nearby_error_step *errors,
                  const nearby_measurement *from) {
  double x0 = state->mean[0];
  double x1 = state->mean[1];
  double x2 = state->mean[2];
  double x3 = state->mean[3];
  double x4 = state->mean[4];
  double x5 = state->mean[5];
  double x6 = state->mean[6];
  double x7 = state->mean[7];
  double x8 = state->mean[8];
  double x9 = state->mean[9];
  double p00 = state->covariance[0];
  double p01 = state->covariance[1];
  double p11 = state->covariance[2];
  double p02 = state->covariance[3];
  double p12 = state->covariance[4];
  double p22 = state->covariance[5];
  double p03 = state->covariance[6];
  double p13 = state->covariance[7];
  double p23 = state->covariance[8];
  double p33 = state->covariance[9];
  double p04 = state->covariance[10];
  double p14 = state->covariance[11];
  double p24 = state->covariance[12];
  double p34 = state->covariance[13];
  double p44 = state->covariance[14];
  double p05 = state->covariance[15];
  double p15 = state->covariance[16];
  double p25 = state->covariance[17];
  double p35 = state->covariance[18];
  double p45 = state->covariance[19];
  double p55 = state->covariance[20];
  double p06 = state->covariance[21];
  double p16 = state->covariance[22];
  double p26 = state->covariance[23];
  double p36 = state->covariance[24];
  double p46 = state->covariance[25];
  double p56 = state->covariance[26];
  double p66 = state->covariance[27];
  double p07 = state->covariance[28];
  double p17 = state->covariance[29];
  double p27 = state->covariance[30];
  double p37 = state->covariance[31];
  double p47 = state->covariance[32];
  double p57 = state->covariance[33];
  double p67 = state->covariance[34];
  double p77 = state->covariance[35];
  double p08 = state->covariance[36];
  double p18 = state->covariance[37];
  double p28 = state->covariance[38];
  double p38 = state->covariance[39];
  double p48 = state->covariance[40];
  double p58 = state->covariance[41];
  double p68 = state->covariance[42];
  double p78 = state->covariance[43];
  double p88 = state->covariance[44];
  double p09 = state->covariance[45];
  double p19 = state->covariance[46];
  double p29 = state->covariance[47];
  double p39 = state->covariance[48];
  double p49 = state->covariance[49];
  double p59 = state->covariance[50];
  double p69 = state->covariance[51];
  double p79 = state->covariance[52];
  double p89 = state->covariance[53];
  double p99 = state->covariance[54];
  const double dx = x0 - motion->device_in_world[0];
  const double dz = x2 - motion->device_in_world[2];
  p00 += motion->horizontal_diffusion + motion->yaw_diffusion * dz * dz;
  p02 -= motion->yaw_diffusion * dz * dx;
  p11 += motion->vertical_diffusion;
  p22 += motion->horizontal_diffusion + motion->yaw_diffusion * dx * dx;
  const double range_factor = errors->range;
  x7 *= range_factor;
  const double azimuth_factor = errors->azimuth;
  x8 *= azimuth_factor;
  const double elevation_factor = errors->elevation;
  x9 *= elevation_factor;
  p07 *= range_factor;
  p17 *= range_factor;
  p27 *= range_factor;
  p37 *= range_factor;
  p47 *= range_factor;
  p57 *= range_factor;
  p67 *= range_factor;
  p77 *= range_factor * range_factor;
  p08 *= azimuth_factor;
  p18 *= azimuth_factor;
  p28 *= azimuth_factor;
  p38 *= azimuth_factor;
  p48 *= azimuth_factor;
  p58 *= azimuth_factor;
  p68 *= azimuth_factor;
  p78 *= range_factor * azimuth_factor;
  p88 *= azimuth_factor * azimuth_factor;
  p09 *= elevation_factor;
  p19 *= elevation_factor;
  p29 *= elevation_factor;
  p39 *= elevation_factor;
  p49 *= elevation_factor;
  p59 *= elevation_factor;
  p69 *= elevation_factor;
  p79 *= range_factor * elevation_factor;
  p89 *= azimuth_factor * elevation_factor;
  p99 *= elevation_factor * elevation_factor;
  p77 += errors->range_added;
  p88 += errors->azimuth_added;
  p99 += errors->elevation_added;
  {
    // range
    const double v0 = x0 - from->antenna_in_world[0];
    const double v1 = x1 - from->antenna_in_world[1];
    const double v2 = x2 - from->antenna_in_world[2];
    const double distance = std::sqrt(v0 * v0 + v1 * v1 + v2 * v2);
    const double scale = 1 + x3;
    const double unit = scale / distance;
    const double z = scale * distance + x4 + x7;
    const double g0 = unit * v0;
    const double g1 = unit * v1;
    const double g2 = unit * v2;
    const double k0 = p00 * g0 + p01 * g1 + p02 * g2 + p04 + p07 + p03 * distance;
    const double k1 = p01 * g0 + p11 * g1 + p12 * g2 + p14 + p17 + p13 * distance;
    const double k2 = p02 * g0 + p12 * g1 + p22 * g2 + p24 + p27 + p23 * distance;
    const double k3 = p03 * g0 + p13 * g1 + p23 * g2 + p34 + p37 + p33 * distance;
    const double k4 = p04 * g0 + p14 * g1 + p24 * g2 + p44 + p47 + p34 * distance;
    const double k5 = p05 * g0 + p15 * g1 + p25 * g2 + p45 + p57 + p35 * distance;
    const double k6 = p06 * g0 + p16 * g1 + p26 * g2 + p46 + p67 + p36 * distance;
    const double k7 = p07 * g0 + p17 * g1 + p27 * g2 + p47 + p77 + p37 * distance;
    const double k8 = p08 * g0 + p18 * g1 + p28 * g2 + p48 + p78 + p38 * distance;
    const double k9 = p09 * g0 + p19 * g1 + p29 * g2 + p49 + p79 + p39 * distance;
    const double variance =
        k0 * g0 + k1 * g1 + k2 * g2 + k4 + k7 + k3 * distance + from->variance[0];
    const double inverse = 1 / variance;
    const double innovation = from->value[0] - z;
    const double step = innovation * inverse;
    const double shrink = inverse;
    x0 += k0 * step;
    x1 += k1 * step;
    x2 += k2 * step;
    x3 += k3 * step;
    x4 += k4 * step;
    x5 += k5 * step;
    x6 += k6 * step;
    x7 += k7 * step;
    x8 += k8 * step;
    x9 += k9 * step;
    const double s0 = shrink * k0;
    p00 -= s0 * k0;
    p01 -= s0 * k1;
    p02 -= s0 * k2;
    p03 -= s0 * k3;
    p04 -= s0 * k4;
    p05 -= s0 * k5;
    p06 -= s0 * k6;
    p07 -= s0 * k7;
    p08 -= s0 * k8;
    p09 -= s0 * k9;
    const double s1 = shrink * k1;
    p11 -= s1 * k1;
    p12 -= s1 * k2;
    p13 -= s1 * k3;
    p14 -= s1 * k4;
    p15 -= s1 * k5;
    p16 -= s1 * k6;
    p17 -= s1 * k7;
    p18 -= s1 * k8;
    p19 -= s1 * k9;
    const double s2 = shrink * k2;
    p22 -= s2 * k2;
    p23 -= s2 * k3;
    p24 -= s2 * k4;
    p25 -= s2 * k5;
    p26 -= s2 * k6;
    p27 -= s2 * k7;
    p28 -= s2 * k8;
    p29 -= s2 * k9;
    const double s3 = shrink * k3;
    p33 -= s3 * k3;
    p34 -= s3 * k4;
    p35 -= s3 * k5;
    p36 -= s3 * k6;
    p37 -= s3 * k7;
    p38 -= s3 * k8;
    p39 -= s3 * k9;
    const double s4 = shrink * k4;
    p44 -= s4 * k4;
    p45 -= s4 * k5;
    p46 -= s4 * k6;
    p47 -= s4 * k7;
    p48 -= s4 * k8;
    p49 -= s4 * k9;
    const double s5 = shrink * k5;
    p55 -= s5 * k5;
    p56 -= s5 * k6;
    p57 -= s5 * k7;
    p58 -= s5 * k8;
    p59 -= s5 * k9;
    const double s6 = shrink * k6;
    p66 -= s6 * k6;
    p67 -= s6 * k7;
    p68 -= s6 * k8;
    p69 -= s6 * k9;
    const double s7 = shrink * k7;
    p77 -= s7 * k7;
    p78 -= s7 * k8;
    p79 -= s7 * k9;
    const double s8 = shrink * k8;
    p88 -= s8 * k8;
    p89 -= s8 * k9;
    const double s9 = shrink * k9;
    p99 -= s9 * k9;
    state->innovation[0] = innovation;
    state->innovation_variance[0] = variance;
  }
  {
    // azimuth
    const double v0 = x0 - from->antenna_in_world[0];
    const double v1 = x1 - from->antenna_in_world[1];
    const double v2 = x2 - from->antenna_in_world[2];
    const double d0 = from->device_from_world[0] * v0 + from->device_from_world[1] * v1 +
                      from->device_from_world[2] * v2;
    const double d2 = from->device_from_world[6] * v0 + from->device_from_world[7] * v1 +
                      from->device_from_world[8] * v2;
    const double over = 1 / (d0 * d0 + d2 * d2);
    const double z = std::atan2(d0, -d2) + x5 + x8;
    const double g0 =
        from->device_from_world[0] * (-d2 * over) + from->device_from_world[6] * (d0 * over);
    const double g1 =
        from->device_from_world[1] * (-d2 * over) + from->device_from_world[7] * (d0 * over);
    const double g2 =
        from->device_from_world[2] * (-d2 * over) + from->device_from_world[8] * (d0 * over);
    const double k0 = p00 * g0 + p01 * g1 + p02 * g2 + p05 + p08;
    const double k1 = p01 * g0 + p11 * g1 + p12 * g2 + p15 + p18;
    const double k2 = p02 * g0 + p12 * g1 + p22 * g2 + p25 + p28;
    const double k3 = p03 * g0 + p13 * g1 + p23 * g2 + p35 + p38;
    const double k4 = p04 * g0 + p14 * g1 + p24 * g2 + p45 + p48;
    const double k5 = p05 * g0 + p15 * g1 + p25 * g2 + p55 + p58;
    const double k6 = p06 * g0 + p16 * g1 + p26 * g2 + p56 + p68;
    const double k7 = p07 * g0 + p17 * g1 + p27 * g2 + p57 + p78;
    const double k8 = p08 * g0 + p18 * g1 + p28 * g2 + p58 + p88;
    const double k9 = p09 * g0 + p19 * g1 + p29 * g2 + p59 + p89;
    const double variance = k0 * g0 + k1 * g1 + k2 * g2 + k5 + k8 + from->variance[1];
    const double inverse = 1 / variance;
    const double innovation = wrapped(from->value[1] - z);
    const double step = innovation * inverse;
    const double shrink = inverse;
    x0 += k0 * step;
    x1 += k1 * step;
    x2 += k2 * step;
    x3 += k3 * step;
    x4 += k4 * step;
    x5 += k5 * step;
    x6 += k6 * step;
    x7 += k7 * step;
    x8 += k8 * step;
    x9 += k9 * step;
    const double s0 = shrink * k0;
    p00 -= s0 * k0;
    p01 -= s0 * k1;
    p02 -= s0 * k2;
    p03 -= s0 * k3;
    p04 -= s0 * k4;
    p05 -= s0 * k5;
    p06 -= s0 * k6;
    p07 -= s0 * k7;
    p08 -= s0 * k8;
    p09 -= s0 * k9;
    const double s1 = shrink * k1;
    p11 -= s1 * k1;
    p12 -= s1 * k2;
    p13 -= s1 * k3;
    p14 -= s1 * k4;
    p15 -= s1 * k5;
    p16 -= s1 * k6;
    p17 -= s1 * k7;
    p18 -= s1 * k8;
    p19 -= s1 * k9;
    const double s2 = shrink * k2;
    p22 -= s2 * k2;
    p23 -= s2 * k3;
    p24 -= s2 * k4;
    p25 -= s2 * k5;
    p26 -= s2 * k6;
    p27 -= s2 * k7;
    p28 -= s2 * k8;
    p29 -= s2 * k9;
    const double s3 = shrink * k3;
    p33 -= s3 * k3;
    p34 -= s3 * k4;
    p35 -= s3 * k5;
    p36 -= s3 * k6;
    p37 -= s3 * k7;
    p38 -= s3 * k8;
    p39 -= s3 * k9;
    const double s4 = shrink * k4;
    p44 -= s4 * k4;
    p45 -= s4 * k5;
    p46 -= s4 * k6;
    p47 -= s4 * k7;
    p48 -= s4 * k8;
    p49 -= s4 * k9;
    const double s5 = shrink * k5;
    p55 -= s5 * k5;
    p56 -= s5 * k6;
    p57 -= s5 * k7;
    p58 -= s5 * k8;
    p59 -= s5 * k9;
    const double s6 = shrink * k6;
    p66 -= s6 * k6;
    p67 -= s6 * k7;
    p68 -= s6 * k8;
    p69 -= s6 * k9;
    const double s7 = shrink * k7;
    p77 -= s7 * k7;
    p78 -= s7 * k8;
    p79 -= s7 * k9;
    const double s8 = shrink * k8;
    p88 -= s8 * k8;
    p89 -= s8 * k9;
    const double s9 = shrink * k9;
    p99 -= s9 * k9;
    state->innovation[1] = innovation;
    state->innovation_variance[1] = variance;
  }
  {
    // elevation
    const double v0 = x0 - from->antenna_in_world[0];
    const double v1 = x1 - from->antenna_in_world[1];
    const double v2 = x2 - from->antenna_in_world[2];
    const double d0 = from->device_from_world[0] * v0 + from->device_from_world[1] * v1 +
                      from->device_from_world[2] * v2;
    const double d1 = from->device_from_world[3] * v0 + from->device_from_world[4] * v1 +
                      from->device_from_world[5] * v2;
    const double d2 = from->device_from_world[6] * v0 + from->device_from_world[7] * v1 +
                      from->device_from_world[8] * v2;
    const double level2 = d0 * d0 + d2 * d2;
    const double level = std::sqrt(level2);
    const double over = 1 / (level2 + d1 * d1);
    const double slope = -d1 * over / level;
    const double z = std::atan2(d1, level) + x6 + x9;
    const double g0 = from->device_from_world[0] * (d0 * slope) +
                      from->device_from_world[3] * (level * over) +
                      from->device_from_world[6] * (d2 * slope);
    const double g1 = from->device_from_world[1] * (d0 * slope) +
                      from->device_from_world[4] * (level * over) +
                      from->device_from_world[7] * (d2 * slope);
    const double g2 = from->device_from_world[2] * (d0 * slope) +
                      from->device_from_world[5] * (level * over) +
                      from->device_from_world[8] * (d2 * slope);
    const double k0 = p00 * g0 + p01 * g1 + p02 * g2 + p06 + p09;
    const double k1 = p01 * g0 + p11 * g1 + p12 * g2 + p16 + p19;
    const double k2 = p02 * g0 + p12 * g1 + p22 * g2 + p26 + p29;
    const double k3 = p03 * g0 + p13 * g1 + p23 * g2 + p36 + p39;
    const double k4 = p04 * g0 + p14 * g1 + p24 * g2 + p46 + p49;
    const double k5 = p05 * g0 + p15 * g1 + p25 * g2 + p56 + p59;
    const double k6 = p06 * g0 + p16 * g1 + p26 * g2 + p66 + p69;
    const double k7 = p07 * g0 + p17 * g1 + p27 * g2 + p67 + p79;
    const double k8 = p08 * g0 + p18 * g1 + p28 * g2 + p68 + p89;
    const double k9 = p09 * g0 + p19 * g1 + p29 * g2 + p69 + p99;
    const double variance = k0 * g0 + k1 * g1 + k2 * g2 + k6 + k9 + from->variance[2];
    const double inverse = 1 / variance;
    const double innovation = wrapped(from->value[2] - z);
    const double step = innovation * inverse;
    const double shrink = inverse;
    x0 += k0 * step;
    x1 += k1 * step;
    x2 += k2 * step;
    x3 += k3 * step;
    x4 += k4 * step;
    x5 += k5 * step;
    x6 += k6 * step;
    x7 += k7 * step;
    x8 += k8 * step;
    x9 += k9 * step;
    const double s0 = shrink * k0;
    p00 -= s0 * k0;
    p01 -= s0 * k1;
    p02 -= s0 * k2;
    p03 -= s0 * k3;
    p04 -= s0 * k4;
    p05 -= s0 * k5;
    p06 -= s0 * k6;
    p07 -= s0 * k7;
    p08 -= s0 * k8;
    p09 -= s0 * k9;
    const double s1 = shrink * k1;
    p11 -= s1 * k1;
    p12 -= s1 * k2;
    p13 -= s1 * k3;
    p14 -= s1 * k4;
    p15 -= s1 * k5;
    p16 -= s1 * k6;
    p17 -= s1 * k7;
    p18 -= s1 * k8;
    p19 -= s1 * k9;
    const double s2 = shrink * k2;
    p22 -= s2 * k2;
    p23 -= s2 * k3;
    p24 -= s2 * k4;
    p25 -= s2 * k5;
    p26 -= s2 * k6;
    p27 -= s2 * k7;
    p28 -= s2 * k8;
    p29 -= s2 * k9;
    const double s3 = shrink * k3;
    p33 -= s3 * k3;
    p34 -= s3 * k4;
    p35 -= s3 * k5;
    p36 -= s3 * k6;
    p37 -= s3 * k7;
    p38 -= s3 * k8;
    p39 -= s3 * k9;
    const double s4 = shrink * k4;
    p44 -= s4 * k4;
    p45 -= s4 * k5;
    p46 -= s4 * k6;
    p47 -= s4 * k7;
    p48 -= s4 * k8;
    p49 -= s4 * k9;
    const double s5 = shrink * k5;
    p55 -= s5 * k5;
    p56 -= s5 * k6;
    p57 -= s5 * k7;
    p58 -= s5 * k8;
    p59 -= s5 * k9;
    const double s6 = shrink * k6;
    p66 -= s6 * k6;
    p67 -= s6 * k7;
    p68 -= s6 * k8;
    p69 -= s6 * k9;
    const double s7 = shrink * k7;
    p77 -= s7 * k7;
    p78 -= s7 * k8;
    p79 -= s7 * k9;
    const double s8 = shrink * k8;
    p88 -= s8 * k8;
    p89 -= s8 * k9;
    const double s9 = shrink * k9;
    p99 -= s9 * k9;
    state->innovation[2] = innovation;
    state->innovation_variance[2] = variance;
  }
  state->mean[0] = x0;
  state->mean[1] = x1;
  state->mean[2] = x2;
  state->mean[3] = x3;
  state->mean[4] = x4;
  state->mean[5] = x5;
  state->mean[6] = x6;
  state->mean[7] = x7;
  state->mean[8] = x8;
  state->mean[9] = x9;
  state->covariance[0] = p00;
  state->covariance[1] = p01;
  state->covariance[2] = p11;
  state->covariance[3] = p02;
  state->covariance[4] = p12;
  state->covariance[5] = p22;
  state->covariance[6] = p03;
  state->covariance[7] = p13;
  state->covariance[8] = p23;
  state->covariance[9] = p33;
  state->covariance[10] = p04;
  state->covariance[11] = p14;
  state->covariance[12] = p24;
  state->covariance[13] = p34;
  state->covariance[14] = p44;
  state->covariance[15] = p05;
  state->covariance[16] = p15;
  state->covariance[17] = p25;
  state->covariance[18] = p35;
  state->covariance[19] = p45;
  state->covariance[20] = p55;
  state->covariance[21] = p06;
  state->covariance[22] = p16;
  state->covariance[23] = p26;
  state->covariance[24] = p36;
  state->covariance[25] = p46;
  state->covariance[26] = p56;
  state->covariance[27] = p66;
  state->covariance[28] = p07;
  state->covariance[29] = p17;
  state->covariance[30] = p27;
  state->covariance[31] = p37;
  state->covariance[32] = p47;
  state->covariance[33] = p57;
  state->covariance[34] = p67;
  state->covariance[35] = p77;
  state->covariance[36] = p08;
  state->covariance[37] = p18;
  state->covariance[38] = p28;
  state->covariance[39] = p38;
  state->covariance[40] = p48;
  state->covariance[41] = p58;
  state->covariance[42] = p68;
  state->covariance[43] = p78;
  state->covariance[44] = p88;
  state->covariance[45] = p09;
  state->covariance[46] = p19;
  state->covariance[47] = p29;
  state->covariance[48] = p39;
  state->covariance[49] = p49;
  state->covariance[50] = p59;
  state->covariance[51] = p69;
  state->covariance[52] = p79;
  state->covariance[53] = p89;
  state->covariance[54] = p99;
}

void floor_robust_update(floor_state *state, const nearby_motion *motion,
                         const nearby_error_step *errors, const nearby_measurement *from) {
  double x0 = state->mean[0];
  double x1 = state->mean[1];
  double x2 = state->mean[2];
  double x3 = state->mean[3];
  double x4 = state->mean[4];
  double x5 = state->mean[5];
  double x6 = state->mean[6];
  double x7 = state->mean[7];
  double x8 = state->mean[8];
  double x9 = state->mean[9];
  double p00 = state->covariance[0];
  double p01 = state->covariance[1];
  double p11 = state->covariance[2];
  double p02 = state->covariance[3];
  double p12 = state->covariance[4];
  double p22 = state->covariance[5];
  double p03 = state->covariance[6];
  double p13 = state->covariance[7];
  double p23 = state->covariance[8];
  double p33 = state->covariance[9];
  double p04 = state->covariance[10];
  double p14 = state->covariance[11];
  double p24 = state->covariance[12];
  double p34 = state->covariance[13];
  double p44 = state->covariance[14];
  double p05 = state->covariance[15];
  double p15 = state->covariance[16];
  double p25 = state->covariance[17];
  double p35 = state->covariance[18];
  double p45 = state->covariance[19];
  double p55 = state->covariance[20];
  double p06 = state->covariance[21];
  double p16 = state->covariance[22];
  double p26 = state->covariance[23];
  double p36 = state->covariance[24];
  double p46 = state->covariance[25];
  double p56 = state->covariance[26];
  double p66 = state->covariance[27];
  double p07 = state->covariance[28];
  double p17 = state->covariance[29];
  double p27 = state->covariance[30];
  double p37 = state->covariance[31];
  double p47 = state->covariance[32];
  double p57 = state->covariance[33];
  double p67 = state->covariance[34];
  double p77 = state->covariance[35];
  double p08 = state->covariance[36];
  double p18 = state->covariance[37];
  double p28 = state->covariance[38];
  double p38 = state->covariance[39];
  double p48 = state->covariance[40];
  double p58 = state->covariance[41];
  double p68 = state->covariance[42];
  double p78 = state->covariance[43];
  double p88 = state->covariance[44];
  double p09 = state->covariance[45];
  double p19 = state->covariance[46];
  double p29 = state->covariance[47];
  double p39 = state->covariance[48];
  double p49 = state->covariance[49];
  double p59 = state->covariance[50];
  double p69 = state->covariance[51];
  double p79 = state->covariance[52];
  double p89 = state->covariance[53];
  double p99 = state->covariance[54];
  const double dx = x0 - motion->device_in_world[0];
  const double dz = x2 - motion->device_in_world[2];
  p00 += motion->horizontal_diffusion + motion->yaw_diffusion * dz * dz;
  p02 -= motion->yaw_diffusion * dz * dx;
  p11 += motion->vertical_diffusion;
  p22 += motion->horizontal_diffusion + motion->yaw_diffusion * dx * dx;
  const double range_factor = errors->range;
  x7 *= range_factor;
  const double azimuth_factor = errors->azimuth;
  x8 *= azimuth_factor;
  const double elevation_factor = errors->elevation;
  x9 *= elevation_factor;
  p07 *= range_factor;
  p17 *= range_factor;
  p27 *= range_factor;
  p37 *= range_factor;
  p47 *= range_factor;
  p57 *= range_factor;
  p67 *= range_factor;
  p77 *= range_factor * range_factor;
  p08 *= azimuth_factor;
  p18 *= azimuth_factor;
  p28 *= azimuth_factor;
  p38 *= azimuth_factor;
  p48 *= azimuth_factor;
  p58 *= azimuth_factor;
  p68 *= azimuth_factor;
  p78 *= range_factor * azimuth_factor;
  p88 *= azimuth_factor * azimuth_factor;
  p09 *= elevation_factor;
  p19 *= elevation_factor;
  p29 *= elevation_factor;
  p39 *= elevation_factor;
  p49 *= elevation_factor;
  p59 *= elevation_factor;
  p69 *= elevation_factor;
  p79 *= range_factor * elevation_factor;
  p89 *= azimuth_factor * elevation_factor;
  p99 *= elevation_factor * elevation_factor;
  p77 += errors->range_added;
  p88 += errors->azimuth_added;
  p99 += errors->elevation_added;
  double likelihood = 1;
  {
    // range
    const double v0 = x0 - from->antenna_in_world[0];
    const double v1 = x1 - from->antenna_in_world[1];
    const double v2 = x2 - from->antenna_in_world[2];
    const double distance = std::sqrt(v0 * v0 + v1 * v1 + v2 * v2);
    const double scale = 1 + x3;
    const double unit = scale / distance;
    const double z = scale * distance + x4 + x7;
    const double g0 = unit * v0;
    const double g1 = unit * v1;
    const double g2 = unit * v2;
    const double k0 = p00 * g0 + p01 * g1 + p02 * g2 + p04 + p07 + p03 * distance;
    const double k1 = p01 * g0 + p11 * g1 + p12 * g2 + p14 + p17 + p13 * distance;
    const double k2 = p02 * g0 + p12 * g1 + p22 * g2 + p24 + p27 + p23 * distance;
    const double k3 = p03 * g0 + p13 * g1 + p23 * g2 + p34 + p37 + p33 * distance;
    const double k4 = p04 * g0 + p14 * g1 + p24 * g2 + p44 + p47 + p34 * distance;
    const double k5 = p05 * g0 + p15 * g1 + p25 * g2 + p45 + p57 + p35 * distance;
    const double k6 = p06 * g0 + p16 * g1 + p26 * g2 + p46 + p67 + p36 * distance;
    const double k7 = p07 * g0 + p17 * g1 + p27 * g2 + p47 + p77 + p37 * distance;
    const double k8 = p08 * g0 + p18 * g1 + p28 * g2 + p48 + p78 + p38 * distance;
    const double k9 = p09 * g0 + p19 * g1 + p29 * g2 + p49 + p79 + p39 * distance;
    const double variance =
        k0 * g0 + k1 * g1 + k2 * g2 + k4 + k7 + k3 * distance + from->variance[0];
    const double inverse = 1 / variance;
    const double innovation = from->value[0] - z;
    const double faulty = state->fault[0];
    const double begins = from->fault_onset[0] * (1 - faulty);
    const double lasts = errors->fault * faulty;
    const double squared = innovation * innovation;
    const double rate = 1 / from->range_excess;
    const double edge = 1 + std::exp(-1.702 * innovation * std::sqrt(inverse));
    const double tail = std::exp(-std::fmax(innovation, 0.0) * rate) * rate / edge;
    const double fresh = 0.75 * tail + 0.25 / 30 * rate;
    const double again = innovation - state->range_residual;
    const double changed = (1 - errors->fault * errors->fault) * from->lasting_range_variance;
    const double spread = variance + from->variance[0] + changed;
    const double lasting = 0.9 * gaussian(again * again, 1 / spread) + 0.1 * fresh;
    state->range_residual = innovation;
    const double honest = (1 - begins - lasts) * gaussian(squared, inverse);
    const double density = honest + begins * fresh + lasts * lasting;
    const double inlier = honest / density;
    state->fault[0] = 1 - inlier;
    likelihood *= density;
    const double step = inlier * innovation * inverse;
    const double shrink = inlier * inverse * (1 - (1 - inlier) * squared * inverse);
    x0 += k0 * step;
    x1 += k1 * step;
    x2 += k2 * step;
    x3 += k3 * step;
    x4 += k4 * step;
    x5 += k5 * step;
    x6 += k6 * step;
    x7 += k7 * step;
    x8 += k8 * step;
    x9 += k9 * step;
    const double s0 = shrink * k0;
    p00 -= s0 * k0;
    p01 -= s0 * k1;
    p02 -= s0 * k2;
    p03 -= s0 * k3;
    p04 -= s0 * k4;
    p05 -= s0 * k5;
    p06 -= s0 * k6;
    p07 -= s0 * k7;
    p08 -= s0 * k8;
    p09 -= s0 * k9;
    const double s1 = shrink * k1;
    p11 -= s1 * k1;
    p12 -= s1 * k2;
    p13 -= s1 * k3;
    p14 -= s1 * k4;
    p15 -= s1 * k5;
    p16 -= s1 * k6;
    p17 -= s1 * k7;
    p18 -= s1 * k8;
    p19 -= s1 * k9;
    const double s2 = shrink * k2;
    p22 -= s2 * k2;
    p23 -= s2 * k3;
    p24 -= s2 * k4;
    p25 -= s2 * k5;
    p26 -= s2 * k6;
    p27 -= s2 * k7;
    p28 -= s2 * k8;
    p29 -= s2 * k9;
    const double s3 = shrink * k3;
    p33 -= s3 * k3;
    p34 -= s3 * k4;
    p35 -= s3 * k5;
    p36 -= s3 * k6;
    p37 -= s3 * k7;
    p38 -= s3 * k8;
    p39 -= s3 * k9;
    const double s4 = shrink * k4;
    p44 -= s4 * k4;
    p45 -= s4 * k5;
    p46 -= s4 * k6;
    p47 -= s4 * k7;
    p48 -= s4 * k8;
    p49 -= s4 * k9;
    const double s5 = shrink * k5;
    p55 -= s5 * k5;
    p56 -= s5 * k6;
    p57 -= s5 * k7;
    p58 -= s5 * k8;
    p59 -= s5 * k9;
    const double s6 = shrink * k6;
    p66 -= s6 * k6;
    p67 -= s6 * k7;
    p68 -= s6 * k8;
    p69 -= s6 * k9;
    const double s7 = shrink * k7;
    p77 -= s7 * k7;
    p78 -= s7 * k8;
    p79 -= s7 * k9;
    const double s8 = shrink * k8;
    p88 -= s8 * k8;
    p89 -= s8 * k9;
    const double s9 = shrink * k9;
    p99 -= s9 * k9;
    state->innovation[0] = innovation;
    state->innovation_variance[0] = variance;
  }
  {
    // azimuth
    const double v0 = x0 - from->antenna_in_world[0];
    const double v1 = x1 - from->antenna_in_world[1];
    const double v2 = x2 - from->antenna_in_world[2];
    const double d0 = from->device_from_world[0] * v0 + from->device_from_world[1] * v1 +
                      from->device_from_world[2] * v2;
    const double d2 = from->device_from_world[6] * v0 + from->device_from_world[7] * v1 +
                      from->device_from_world[8] * v2;
    const double over = 1 / (d0 * d0 + d2 * d2);
    const double z = std::atan2(d0, -d2) + x5 + x8;
    const double g0 =
        from->device_from_world[0] * (-d2 * over) + from->device_from_world[6] * (d0 * over);
    const double g1 =
        from->device_from_world[1] * (-d2 * over) + from->device_from_world[7] * (d0 * over);
    const double g2 =
        from->device_from_world[2] * (-d2 * over) + from->device_from_world[8] * (d0 * over);
    const double k0 = p00 * g0 + p01 * g1 + p02 * g2 + p05 + p08;
    const double k1 = p01 * g0 + p11 * g1 + p12 * g2 + p15 + p18;
    const double k2 = p02 * g0 + p12 * g1 + p22 * g2 + p25 + p28;
    const double k3 = p03 * g0 + p13 * g1 + p23 * g2 + p35 + p38;
    const double k4 = p04 * g0 + p14 * g1 + p24 * g2 + p45 + p48;
    const double k5 = p05 * g0 + p15 * g1 + p25 * g2 + p55 + p58;
    const double k6 = p06 * g0 + p16 * g1 + p26 * g2 + p56 + p68;
    const double k7 = p07 * g0 + p17 * g1 + p27 * g2 + p57 + p78;
    const double k8 = p08 * g0 + p18 * g1 + p28 * g2 + p58 + p88;
    const double k9 = p09 * g0 + p19 * g1 + p29 * g2 + p59 + p89;
    const double variance = k0 * g0 + k1 * g1 + k2 * g2 + k5 + k8 + from->variance[1];
    const double inverse = 1 / variance;
    const double innovation = wrapped(from->value[1] - z);
    const double faulty = state->fault[1];
    const double begins = from->fault_onset[1] * (1 - faulty);
    const double lasts = errors->fault * faulty;
    const double squared = innovation * innovation;
    const double mirror = wrapped(innovation + M_PI - 2 * from->value[1]);
    const double fresh = 0.75 / from->field_of_view + 0.25 * gaussian(mirror * mirror, inverse);
    const double again = wrapped(from->value[1] - from->previous[1]);
    const double spread = variance + from->variance[1];
    const double lasting = 0.6 * gaussian(again * again, 1 / spread) + 0.4 * fresh;
    const double honest = (1 - begins - lasts) * gaussian(squared, inverse);
    const double density = honest + begins * fresh + lasts * lasting;
    const double inlier = honest / density;
    state->fault[1] = 1 - inlier;
    likelihood *= density;
    const double step = inlier * innovation * inverse;
    const double shrink = inlier * inverse * (1 - (1 - inlier) * squared * inverse);
    x0 += k0 * step;
    x1 += k1 * step;
    x2 += k2 * step;
    x3 += k3 * step;
    x4 += k4 * step;
    x5 += k5 * step;
    x6 += k6 * step;
    x7 += k7 * step;
    x8 += k8 * step;
    x9 += k9 * step;
    const double s0 = shrink * k0;
    p00 -= s0 * k0;
    p01 -= s0 * k1;
    p02 -= s0 * k2;
    p03 -= s0 * k3;
    p04 -= s0 * k4;
    p05 -= s0 * k5;
    p06 -= s0 * k6;
    p07 -= s0 * k7;
    p08 -= s0 * k8;
    p09 -= s0 * k9;
    const double s1 = shrink * k1;
    p11 -= s1 * k1;
    p12 -= s1 * k2;
    p13 -= s1 * k3;
    p14 -= s1 * k4;
    p15 -= s1 * k5;
    p16 -= s1 * k6;
    p17 -= s1 * k7;
    p18 -= s1 * k8;
    p19 -= s1 * k9;
    const double s2 = shrink * k2;
    p22 -= s2 * k2;
    p23 -= s2 * k3;
    p24 -= s2 * k4;
    p25 -= s2 * k5;
    p26 -= s2 * k6;
    p27 -= s2 * k7;
    p28 -= s2 * k8;
    p29 -= s2 * k9;
    const double s3 = shrink * k3;
    p33 -= s3 * k3;
    p34 -= s3 * k4;
    p35 -= s3 * k5;
    p36 -= s3 * k6;
    p37 -= s3 * k7;
    p38 -= s3 * k8;
    p39 -= s3 * k9;
    const double s4 = shrink * k4;
    p44 -= s4 * k4;
    p45 -= s4 * k5;
    p46 -= s4 * k6;
    p47 -= s4 * k7;
    p48 -= s4 * k8;
    p49 -= s4 * k9;
    const double s5 = shrink * k5;
    p55 -= s5 * k5;
    p56 -= s5 * k6;
    p57 -= s5 * k7;
    p58 -= s5 * k8;
    p59 -= s5 * k9;
    const double s6 = shrink * k6;
    p66 -= s6 * k6;
    p67 -= s6 * k7;
    p68 -= s6 * k8;
    p69 -= s6 * k9;
    const double s7 = shrink * k7;
    p77 -= s7 * k7;
    p78 -= s7 * k8;
    p79 -= s7 * k9;
    const double s8 = shrink * k8;
    p88 -= s8 * k8;
    p89 -= s8 * k9;
    const double s9 = shrink * k9;
    p99 -= s9 * k9;
    state->innovation[1] = innovation;
    state->innovation_variance[1] = variance;
  }
  {
    // elevation
    const double v0 = x0 - from->antenna_in_world[0];
    const double v1 = x1 - from->antenna_in_world[1];
    const double v2 = x2 - from->antenna_in_world[2];
    const double d0 = from->device_from_world[0] * v0 + from->device_from_world[1] * v1 +
                      from->device_from_world[2] * v2;
    const double d1 = from->device_from_world[3] * v0 + from->device_from_world[4] * v1 +
                      from->device_from_world[5] * v2;
    const double d2 = from->device_from_world[6] * v0 + from->device_from_world[7] * v1 +
                      from->device_from_world[8] * v2;
    const double level2 = d0 * d0 + d2 * d2;
    const double level = std::sqrt(level2);
    const double over = 1 / (level2 + d1 * d1);
    const double slope = -d1 * over / level;
    const double z = std::atan2(d1, level) + x6 + x9;
    const double g0 = from->device_from_world[0] * (d0 * slope) +
                      from->device_from_world[3] * (level * over) +
                      from->device_from_world[6] * (d2 * slope);
    const double g1 = from->device_from_world[1] * (d0 * slope) +
                      from->device_from_world[4] * (level * over) +
                      from->device_from_world[7] * (d2 * slope);
    const double g2 = from->device_from_world[2] * (d0 * slope) +
                      from->device_from_world[5] * (level * over) +
                      from->device_from_world[8] * (d2 * slope);
    const double k0 = p00 * g0 + p01 * g1 + p02 * g2 + p06 + p09;
    const double k1 = p01 * g0 + p11 * g1 + p12 * g2 + p16 + p19;
    const double k2 = p02 * g0 + p12 * g1 + p22 * g2 + p26 + p29;
    const double k3 = p03 * g0 + p13 * g1 + p23 * g2 + p36 + p39;
    const double k4 = p04 * g0 + p14 * g1 + p24 * g2 + p46 + p49;
    const double k5 = p05 * g0 + p15 * g1 + p25 * g2 + p56 + p59;
    const double k6 = p06 * g0 + p16 * g1 + p26 * g2 + p66 + p69;
    const double k7 = p07 * g0 + p17 * g1 + p27 * g2 + p67 + p79;
    const double k8 = p08 * g0 + p18 * g1 + p28 * g2 + p68 + p89;
    const double k9 = p09 * g0 + p19 * g1 + p29 * g2 + p69 + p99;
    const double variance = k0 * g0 + k1 * g1 + k2 * g2 + k6 + k9 + from->variance[2];
    const double inverse = 1 / variance;
    const double innovation = wrapped(from->value[2] - z);
    const double faulty = state->fault[2];
    const double begins = from->fault_onset[2] * (1 - faulty);
    const double lasts = errors->fault * faulty;
    const double squared = innovation * innovation;
    const double fresh = 0.75 / from->field_of_view;
    const double again = wrapped(from->value[2] - from->previous[2]);
    const double spread = variance + from->variance[2];
    const double lasting = 0.6 * gaussian(again * again, 1 / spread) + 0.4 * fresh;
    const double honest = (1 - begins - lasts) * gaussian(squared, inverse);
    const double density = honest + begins * fresh + lasts * lasting;
    const double inlier = honest / density;
    state->fault[2] = 1 - inlier;
    likelihood *= density;
    const double step = inlier * innovation * inverse;
    const double shrink = inlier * inverse * (1 - (1 - inlier) * squared * inverse);
    x0 += k0 * step;
    x1 += k1 * step;
    x2 += k2 * step;
    x3 += k3 * step;
    x4 += k4 * step;
    x5 += k5 * step;
    x6 += k6 * step;
    x7 += k7 * step;
    x8 += k8 * step;
    x9 += k9 * step;
    const double s0 = shrink * k0;
    p00 -= s0 * k0;
    p01 -= s0 * k1;
    p02 -= s0 * k2;
    p03 -= s0 * k3;
    p04 -= s0 * k4;
    p05 -= s0 * k5;
    p06 -= s0 * k6;
    p07 -= s0 * k7;
    p08 -= s0 * k8;
    p09 -= s0 * k9;
    const double s1 = shrink * k1;
    p11 -= s1 * k1;
    p12 -= s1 * k2;
    p13 -= s1 * k3;
    p14 -= s1 * k4;
    p15 -= s1 * k5;
    p16 -= s1 * k6;
    p17 -= s1 * k7;
    p18 -= s1 * k8;
    p19 -= s1 * k9;
    const double s2 = shrink * k2;
    p22 -= s2 * k2;
    p23 -= s2 * k3;
    p24 -= s2 * k4;
    p25 -= s2 * k5;
    p26 -= s2 * k6;
    p27 -= s2 * k7;
    p28 -= s2 * k8;
    p29 -= s2 * k9;
    const double s3 = shrink * k3;
    p33 -= s3 * k3;
    p34 -= s3 * k4;
    p35 -= s3 * k5;
    p36 -= s3 * k6;
    p37 -= s3 * k7;
    p38 -= s3 * k8;
    p39 -= s3 * k9;
    const double s4 = shrink * k4;
    p44 -= s4 * k4;
    p45 -= s4 * k5;
    p46 -= s4 * k6;
    p47 -= s4 * k7;
    p48 -= s4 * k8;
    p49 -= s4 * k9;
    const double s5 = shrink * k5;
    p55 -= s5 * k5;
    p56 -= s5 * k6;
    p57 -= s5 * k7;
    p58 -= s5 * k8;
    p59 -= s5 * k9;
    const double s6 = shrink * k6;
    p66 -= s6 * k6;
    p67 -= s6 * k7;
    p68 -= s6 * k8;
    p69 -= s6 * k9;
    const double s7 = shrink * k7;
    p77 -= s7 * k7;
    p78 -= s7 * k8;
    p79 -= s7 * k9;
    const double s8 = shrink * k8;
    p88 -= s8 * k8;
    p89 -= s8 * k9;
    const double s9 = shrink * k9;
    p99 -= s9 * k9;
    state->innovation[2] = innovation;
    state->innovation_variance[2] = variance;
  }
  state->mean[0] = x0;
  state->mean[1] = x1;
  state->mean[2] = x2;
  state->mean[3] = x3;
  state->mean[4] = x4;
  state->mean[5] = x5;
  state->mean[6] = x6;
  state->mean[7] = x7;
  state->mean[8] = x8;
  state->mean[9] = x9;
  state->covariance[0] = p00;
  state->covariance[1] = p01;
  state->covariance[2] = p11;
  state->covariance[3] = p02;
  state->covariance[4] = p12;
  state->covariance[5] = p22;
  state->covariance[6] = p03;
  state->covariance[7] = p13;
  state->covariance[8] = p23;
  state->covariance[9] = p33;
  state->covariance[10] = p04;
  state->covariance[11] = p14;
  state->covariance[12] = p24;
  state->covariance[13] = p34;
  state->covariance[14] = p44;
  state->covariance[15] = p05;
  state->covariance[16] = p15;
  state->covariance[17] = p25;
  state->covariance[18] = p35;
  state->covariance[19] = p45;
  state->covariance[20] = p55;
  state->covariance[21] = p06;
  state->covariance[22] = p16;
  state->covariance[23] = p26;
  state->covariance[24] = p36;
  state->covariance[25] = p46;
  state->covariance[26] = p56;
  state->covariance[27] = p66;
  state->covariance[28] = p07;
  state->covariance[29] = p17;
  state->covariance[30] = p27;
  state->covariance[31] = p37;
  state->covariance[32] = p47;
  state->covariance[33] = p57;
  state->covariance[34] = p67;
  state->covariance[35] = p77;
  state->covariance[36] = p08;
  state->covariance[37] = p18;
  state->covariance[38] = p28;
  state->covariance[39] = p38;
  state->covariance[40] = p48;
  state->covariance[41] = p58;
  state->covariance[42] = p68;
  state->covariance[43] = p78;
  state->covariance[44] = p88;
  state->covariance[45] = p09;
  state->covariance[46] = p19;
  state->covariance[47] = p29;
  state->covariance[48] = p39;
  state->covariance[49] = p49;
  state->covariance[50] = p59;
  state->covariance[51] = p69;
  state->covariance[52] = p79;
  state->covariance[53] = p89;
  state->covariance[54] = p99;
  state->log_weight += std::log(likelihood);
}

void floor_update_at_once(floor_state *state, const nearby_motion *motion,
                          const nearby_error_step *errors, const nearby_measurement *from) {
  double x0 = state->mean[0];
  double x1 = state->mean[1];
  double x2 = state->mean[2];
  double x3 = state->mean[3];
  double x4 = state->mean[4];
  double x5 = state->mean[5];
  double x6 = state->mean[6];
  double x7 = state->mean[7];
  double x8 = state->mean[8];
  double x9 = state->mean[9];
  double p00 = state->covariance[0];
  double p01 = state->covariance[1];
  double p11 = state->covariance[2];
  double p02 = state->covariance[3];
  double p12 = state->covariance[4];
  double p22 = state->covariance[5];
  double p03 = state->covariance[6];
  double p13 = state->covariance[7];
  double p23 = state->covariance[8];
  double p33 = state->covariance[9];
  double p04 = state->covariance[10];
  double p14 = state->covariance[11];
  double p24 = state->covariance[12];
  double p34 = state->covariance[13];
  double p44 = state->covariance[14];
  double p05 = state->covariance[15];
  double p15 = state->covariance[16];
  double p25 = state->covariance[17];
  double p35 = state->covariance[18];
  double p45 = state->covariance[19];
  double p55 = state->covariance[20];
  double p06 = state->covariance[21];
  double p16 = state->covariance[22];
  double p26 = state->covariance[23];
  double p36 = state->covariance[24];
  double p46 = state->covariance[25];
  double p56 = state->covariance[26];
  double p66 = state->covariance[27];
  double p07 = state->covariance[28];
  double p17 = state->covariance[29];
  double p27 = state->covariance[30];
  double p37 = state->covariance[31];
  double p47 = state->covariance[32];
  double p57 = state->covariance[33];
  double p67 = state->covariance[34];
  double p77 = state->covariance[35];
  double p08 = state->covariance[36];
  double p18 = state->covariance[37];
  double p28 = state->covariance[38];
  double p38 = state->covariance[39];
  double p48 = state->covariance[40];
  double p58 = state->covariance[41];
  double p68 = state->covariance[42];
  double p78 = state->covariance[43];
  double p88 = state->covariance[44];
  double p09 = state->covariance[45];
  double p19 = state->covariance[46];
  double p29 = state->covariance[47];
  double p39 = state->covariance[48];
  double p49 = state->covariance[49];
  double p59 = state->covariance[50];
  double p69 = state->covariance[51];
  double p79 = state->covariance[52];
  double p89 = state->covariance[53];
  double p99 = state->covariance[54];
  const double dx = x0 - motion->device_in_world[0];
  const double dz = x2 - motion->device_in_world[2];
  p00 += motion->horizontal_diffusion + motion->yaw_diffusion * dz * dz;
  p02 -= motion->yaw_diffusion * dz * dx;
  p11 += motion->vertical_diffusion;
  p22 += motion->horizontal_diffusion + motion->yaw_diffusion * dx * dx;
  const double range_factor = errors->range;
  x7 *= range_factor;
  const double azimuth_factor = errors->azimuth;
  x8 *= azimuth_factor;
  const double elevation_factor = errors->elevation;
  x9 *= elevation_factor;
  p07 *= range_factor;
  p17 *= range_factor;
  p27 *= range_factor;
  p37 *= range_factor;
  p47 *= range_factor;
  p57 *= range_factor;
  p67 *= range_factor;
  p77 *= range_factor * range_factor;
  p08 *= azimuth_factor;
  p18 *= azimuth_factor;
  p28 *= azimuth_factor;
  p38 *= azimuth_factor;
  p48 *= azimuth_factor;
  p58 *= azimuth_factor;
  p68 *= azimuth_factor;
  p78 *= range_factor * azimuth_factor;
  p88 *= azimuth_factor * azimuth_factor;
  p09 *= elevation_factor;
  p19 *= elevation_factor;
  p29 *= elevation_factor;
  p39 *= elevation_factor;
  p49 *= elevation_factor;
  p59 *= elevation_factor;
  p69 *= elevation_factor;
  p79 *= range_factor * elevation_factor;
  p89 *= azimuth_factor * elevation_factor;
  p99 *= elevation_factor * elevation_factor;
  p77 += errors->range_added;
  p88 += errors->azimuth_added;
  p99 += errors->elevation_added;
  // range
  const double v0_range = x0 - from->antenna_in_world[0];
  const double v1_range = x1 - from->antenna_in_world[1];
  const double v2_range = x2 - from->antenna_in_world[2];
  const double distance_range =
      std::sqrt(v0_range * v0_range + v1_range * v1_range + v2_range * v2_range);
  const double scale_range = 1 + x3;
  const double unit_range = scale_range / distance_range;
  const double z_range = scale_range * distance_range + x4 + x7;
  const double g0_range = unit_range * v0_range;
  const double g1_range = unit_range * v1_range;
  const double g2_range = unit_range * v2_range;
  const double raw0_range =
      p00 * g0_range + p01 * g1_range + p02 * g2_range + p04 + p07 + p03 * distance_range;
  const double raw1_range =
      p01 * g0_range + p11 * g1_range + p12 * g2_range + p14 + p17 + p13 * distance_range;
  const double raw2_range =
      p02 * g0_range + p12 * g1_range + p22 * g2_range + p24 + p27 + p23 * distance_range;
  const double raw3_range =
      p03 * g0_range + p13 * g1_range + p23 * g2_range + p34 + p37 + p33 * distance_range;
  const double raw4_range =
      p04 * g0_range + p14 * g1_range + p24 * g2_range + p44 + p47 + p34 * distance_range;
  const double raw5_range =
      p05 * g0_range + p15 * g1_range + p25 * g2_range + p45 + p57 + p35 * distance_range;
  const double raw6_range =
      p06 * g0_range + p16 * g1_range + p26 * g2_range + p46 + p67 + p36 * distance_range;
  const double raw7_range =
      p07 * g0_range + p17 * g1_range + p27 * g2_range + p47 + p77 + p37 * distance_range;
  const double raw8_range =
      p08 * g0_range + p18 * g1_range + p28 * g2_range + p48 + p78 + p38 * distance_range;
  const double raw9_range =
      p09 * g0_range + p19 * g1_range + p29 * g2_range + p49 + p79 + p39 * distance_range;
  const double alone_range = raw0_range * g0_range + raw1_range * g1_range + raw2_range * g2_range +
                             raw4_range + raw7_range + raw3_range * distance_range +
                             from->variance[0];
  const double k0_range = raw0_range;
  const double k1_range = raw1_range;
  const double k2_range = raw2_range;
  const double k3_range = raw3_range;
  const double k4_range = raw4_range;
  const double k5_range = raw5_range;
  const double k6_range = raw6_range;
  const double k7_range = raw7_range;
  const double k8_range = raw8_range;
  const double k9_range = raw9_range;
  const double variance_range = alone_range;
  const double inverse_range = 1 / variance_range;
  const double innovation_range = from->value[0] - z_range;
  state->innovation[0] = innovation_range;
  state->innovation_variance[0] = variance_range;
  // azimuth
  const double v0_azimuth = x0 - from->antenna_in_world[0];
  const double v1_azimuth = x1 - from->antenna_in_world[1];
  const double v2_azimuth = x2 - from->antenna_in_world[2];
  const double d0_azimuth = from->device_from_world[0] * v0_azimuth +
                            from->device_from_world[1] * v1_azimuth +
                            from->device_from_world[2] * v2_azimuth;
  const double d2_azimuth = from->device_from_world[6] * v0_azimuth +
                            from->device_from_world[7] * v1_azimuth +
                            from->device_from_world[8] * v2_azimuth;
  const double over_azimuth = 1 / (d0_azimuth * d0_azimuth + d2_azimuth * d2_azimuth);
  const double z_azimuth = std::atan2(d0_azimuth, -d2_azimuth) + x5 + x8;
  const double g0_azimuth = from->device_from_world[0] * (-d2_azimuth * over_azimuth) +
                            from->device_from_world[6] * (d0_azimuth * over_azimuth);
  const double g1_azimuth = from->device_from_world[1] * (-d2_azimuth * over_azimuth) +
                            from->device_from_world[7] * (d0_azimuth * over_azimuth);
  const double g2_azimuth = from->device_from_world[2] * (-d2_azimuth * over_azimuth) +
                            from->device_from_world[8] * (d0_azimuth * over_azimuth);
  const double raw0_azimuth = p00 * g0_azimuth + p01 * g1_azimuth + p02 * g2_azimuth + p05 + p08;
  const double raw1_azimuth = p01 * g0_azimuth + p11 * g1_azimuth + p12 * g2_azimuth + p15 + p18;
  const double raw2_azimuth = p02 * g0_azimuth + p12 * g1_azimuth + p22 * g2_azimuth + p25 + p28;
  const double raw3_azimuth = p03 * g0_azimuth + p13 * g1_azimuth + p23 * g2_azimuth + p35 + p38;
  const double raw4_azimuth = p04 * g0_azimuth + p14 * g1_azimuth + p24 * g2_azimuth + p45 + p48;
  const double raw5_azimuth = p05 * g0_azimuth + p15 * g1_azimuth + p25 * g2_azimuth + p55 + p58;
  const double raw6_azimuth = p06 * g0_azimuth + p16 * g1_azimuth + p26 * g2_azimuth + p56 + p68;
  const double raw7_azimuth = p07 * g0_azimuth + p17 * g1_azimuth + p27 * g2_azimuth + p57 + p78;
  const double raw8_azimuth = p08 * g0_azimuth + p18 * g1_azimuth + p28 * g2_azimuth + p58 + p88;
  const double raw9_azimuth = p09 * g0_azimuth + p19 * g1_azimuth + p29 * g2_azimuth + p59 + p89;
  const double alone_azimuth = raw0_azimuth * g0_azimuth + raw1_azimuth * g1_azimuth +
                               raw2_azimuth * g2_azimuth + raw5_azimuth + raw8_azimuth +
                               from->variance[1];
  const double between_azimuth_range =
      k0_range * g0_azimuth + k1_range * g1_azimuth + k2_range * g2_azimuth + k5_range + k8_range;
  const double share_azimuth_range = between_azimuth_range * inverse_range;
  const double k0_azimuth = raw0_azimuth - share_azimuth_range * k0_range;
  const double k1_azimuth = raw1_azimuth - share_azimuth_range * k1_range;
  const double k2_azimuth = raw2_azimuth - share_azimuth_range * k2_range;
  const double k3_azimuth = raw3_azimuth - share_azimuth_range * k3_range;
  const double k4_azimuth = raw4_azimuth - share_azimuth_range * k4_range;
  const double k5_azimuth = raw5_azimuth - share_azimuth_range * k5_range;
  const double k6_azimuth = raw6_azimuth - share_azimuth_range * k6_range;
  const double k7_azimuth = raw7_azimuth - share_azimuth_range * k7_range;
  const double k8_azimuth = raw8_azimuth - share_azimuth_range * k8_range;
  const double k9_azimuth = raw9_azimuth - share_azimuth_range * k9_range;
  const double variance_azimuth = alone_azimuth - share_azimuth_range * between_azimuth_range;
  const double inverse_azimuth = 1 / variance_azimuth;
  const double innovation_azimuth =
      wrapped(from->value[1] - z_azimuth - share_azimuth_range * innovation_range);
  state->innovation[1] = innovation_azimuth;
  state->innovation_variance[1] = variance_azimuth;
  // elevation
  const double v0_elevation = x0 - from->antenna_in_world[0];
  const double v1_elevation = x1 - from->antenna_in_world[1];
  const double v2_elevation = x2 - from->antenna_in_world[2];
  const double d0_elevation = from->device_from_world[0] * v0_elevation +
                              from->device_from_world[1] * v1_elevation +
                              from->device_from_world[2] * v2_elevation;
  const double d1_elevation = from->device_from_world[3] * v0_elevation +
                              from->device_from_world[4] * v1_elevation +
                              from->device_from_world[5] * v2_elevation;
  const double d2_elevation = from->device_from_world[6] * v0_elevation +
                              from->device_from_world[7] * v1_elevation +
                              from->device_from_world[8] * v2_elevation;
  const double level2_elevation = d0_elevation * d0_elevation + d2_elevation * d2_elevation;
  const double level_elevation = std::sqrt(level2_elevation);
  const double over_elevation = 1 / (level2_elevation + d1_elevation * d1_elevation);
  const double slope_elevation = -d1_elevation * over_elevation / level_elevation;
  const double z_elevation = std::atan2(d1_elevation, level_elevation) + x6 + x9;
  const double g0_elevation = from->device_from_world[0] * (d0_elevation * slope_elevation) +
                              from->device_from_world[3] * (level_elevation * over_elevation) +
                              from->device_from_world[6] * (d2_elevation * slope_elevation);
  const double g1_elevation = from->device_from_world[1] * (d0_elevation * slope_elevation) +
                              from->device_from_world[4] * (level_elevation * over_elevation) +
                              from->device_from_world[7] * (d2_elevation * slope_elevation);
  const double g2_elevation = from->device_from_world[2] * (d0_elevation * slope_elevation) +
                              from->device_from_world[5] * (level_elevation * over_elevation) +
                              from->device_from_world[8] * (d2_elevation * slope_elevation);
  const double raw0_elevation =
      p00 * g0_elevation + p01 * g1_elevation + p02 * g2_elevation + p06 + p09;
  const double raw1_elevation =
      p01 * g0_elevation + p11 * g1_elevation + p12 * g2_elevation + p16 + p19;
  const double raw2_elevation =
      p02 * g0_elevation + p12 * g1_elevation + p22 * g2_elevation + p26 + p29;
  const double raw3_elevation =
      p03 * g0_elevation + p13 * g1_elevation + p23 * g2_elevation + p36 + p39;
  const double raw4_elevation =
      p04 * g0_elevation + p14 * g1_elevation + p24 * g2_elevation + p46 + p49;
  const double raw5_elevation =
      p05 * g0_elevation + p15 * g1_elevation + p25 * g2_elevation + p56 + p59;
  const double raw6_elevation =
      p06 * g0_elevation + p16 * g1_elevation + p26 * g2_elevation + p66 + p69;
  const double raw7_elevation =
      p07 * g0_elevation + p17 * g1_elevation + p27 * g2_elevation + p67 + p79;
  const double raw8_elevation =
      p08 * g0_elevation + p18 * g1_elevation + p28 * g2_elevation + p68 + p89;
  const double raw9_elevation =
      p09 * g0_elevation + p19 * g1_elevation + p29 * g2_elevation + p69 + p99;
  const double alone_elevation = raw0_elevation * g0_elevation + raw1_elevation * g1_elevation +
                                 raw2_elevation * g2_elevation + raw6_elevation + raw9_elevation +
                                 from->variance[2];
  const double between_elevation_range = k0_range * g0_elevation + k1_range * g1_elevation +
                                         k2_range * g2_elevation + k6_range + k9_range;
  const double share_elevation_range = between_elevation_range * inverse_range;
  const double between_elevation_azimuth = k0_azimuth * g0_elevation + k1_azimuth * g1_elevation +
                                           k2_azimuth * g2_elevation + k6_azimuth + k9_azimuth;
  const double share_elevation_azimuth = between_elevation_azimuth * inverse_azimuth;
  const double k0_elevation =
      raw0_elevation - share_elevation_range * k0_range - share_elevation_azimuth * k0_azimuth;
  const double k1_elevation =
      raw1_elevation - share_elevation_range * k1_range - share_elevation_azimuth * k1_azimuth;
  const double k2_elevation =
      raw2_elevation - share_elevation_range * k2_range - share_elevation_azimuth * k2_azimuth;
  const double k3_elevation =
      raw3_elevation - share_elevation_range * k3_range - share_elevation_azimuth * k3_azimuth;
  const double k4_elevation =
      raw4_elevation - share_elevation_range * k4_range - share_elevation_azimuth * k4_azimuth;
  const double k5_elevation =
      raw5_elevation - share_elevation_range * k5_range - share_elevation_azimuth * k5_azimuth;
  const double k6_elevation =
      raw6_elevation - share_elevation_range * k6_range - share_elevation_azimuth * k6_azimuth;
  const double k7_elevation =
      raw7_elevation - share_elevation_range * k7_range - share_elevation_azimuth * k7_azimuth;
  const double k8_elevation =
      raw8_elevation - share_elevation_range * k8_range - share_elevation_azimuth * k8_azimuth;
  const double k9_elevation =
      raw9_elevation - share_elevation_range * k9_range - share_elevation_azimuth * k9_azimuth;
  const double variance_elevation = alone_elevation -
                                    share_elevation_range * between_elevation_range -
                                    share_elevation_azimuth * between_elevation_azimuth;
  const double inverse_elevation = 1 / variance_elevation;
  const double innovation_elevation =
      wrapped(from->value[2] - z_elevation - share_elevation_range * innovation_range -
              share_elevation_azimuth * innovation_azimuth);
  state->innovation[2] = innovation_elevation;
  state->innovation_variance[2] = variance_elevation;
  x0 = x0 + k0_range * (innovation_range * inverse_range) +
       k0_azimuth * (innovation_azimuth * inverse_azimuth) +
       k0_elevation * (innovation_elevation * inverse_elevation);
  x1 = x1 + k1_range * (innovation_range * inverse_range) +
       k1_azimuth * (innovation_azimuth * inverse_azimuth) +
       k1_elevation * (innovation_elevation * inverse_elevation);
  x2 = x2 + k2_range * (innovation_range * inverse_range) +
       k2_azimuth * (innovation_azimuth * inverse_azimuth) +
       k2_elevation * (innovation_elevation * inverse_elevation);
  x3 = x3 + k3_range * (innovation_range * inverse_range) +
       k3_azimuth * (innovation_azimuth * inverse_azimuth) +
       k3_elevation * (innovation_elevation * inverse_elevation);
  x4 = x4 + k4_range * (innovation_range * inverse_range) +
       k4_azimuth * (innovation_azimuth * inverse_azimuth) +
       k4_elevation * (innovation_elevation * inverse_elevation);
  x5 = x5 + k5_range * (innovation_range * inverse_range) +
       k5_azimuth * (innovation_azimuth * inverse_azimuth) +
       k5_elevation * (innovation_elevation * inverse_elevation);
  x6 = x6 + k6_range * (innovation_range * inverse_range) +
       k6_azimuth * (innovation_azimuth * inverse_azimuth) +
       k6_elevation * (innovation_elevation * inverse_elevation);
  x7 = x7 + k7_range * (innovation_range * inverse_range) +
       k7_azimuth * (innovation_azimuth * inverse_azimuth) +
       k7_elevation * (innovation_elevation * inverse_elevation);
  x8 = x8 + k8_range * (innovation_range * inverse_range) +
       k8_azimuth * (innovation_azimuth * inverse_azimuth) +
       k8_elevation * (innovation_elevation * inverse_elevation);
  x9 = x9 + k9_range * (innovation_range * inverse_range) +
       k9_azimuth * (innovation_azimuth * inverse_azimuth) +
       k9_elevation * (innovation_elevation * inverse_elevation);
  const double s0_range = inverse_range * k0_range;
  const double s0_azimuth = inverse_azimuth * k0_azimuth;
  const double s0_elevation = inverse_elevation * k0_elevation;
  p00 = p00 - s0_range * k0_range - s0_azimuth * k0_azimuth - s0_elevation * k0_elevation;
  p01 = p01 - s0_range * k1_range - s0_azimuth * k1_azimuth - s0_elevation * k1_elevation;
  p02 = p02 - s0_range * k2_range - s0_azimuth * k2_azimuth - s0_elevation * k2_elevation;
  p03 = p03 - s0_range * k3_range - s0_azimuth * k3_azimuth - s0_elevation * k3_elevation;
  p04 = p04 - s0_range * k4_range - s0_azimuth * k4_azimuth - s0_elevation * k4_elevation;
  p05 = p05 - s0_range * k5_range - s0_azimuth * k5_azimuth - s0_elevation * k5_elevation;
  p06 = p06 - s0_range * k6_range - s0_azimuth * k6_azimuth - s0_elevation * k6_elevation;
  p07 = p07 - s0_range * k7_range - s0_azimuth * k7_azimuth - s0_elevation * k7_elevation;
  p08 = p08 - s0_range * k8_range - s0_azimuth * k8_azimuth - s0_elevation * k8_elevation;
  p09 = p09 - s0_range * k9_range - s0_azimuth * k9_azimuth - s0_elevation * k9_elevation;
  const double s1_range = inverse_range * k1_range;
  const double s1_azimuth = inverse_azimuth * k1_azimuth;
  const double s1_elevation = inverse_elevation * k1_elevation;
  p11 = p11 - s1_range * k1_range - s1_azimuth * k1_azimuth - s1_elevation * k1_elevation;
  p12 = p12 - s1_range * k2_range - s1_azimuth * k2_azimuth - s1_elevation * k2_elevation;
  p13 = p13 - s1_range * k3_range - s1_azimuth * k3_azimuth - s1_elevation * k3_elevation;
  p14 = p14 - s1_range * k4_range - s1_azimuth * k4_azimuth - s1_elevation * k4_elevation;
  p15 = p15 - s1_range * k5_range - s1_azimuth * k5_azimuth - s1_elevation * k5_elevation;
  p16 = p16 - s1_range * k6_range - s1_azimuth * k6_azimuth - s1_elevation * k6_elevation;
  p17 = p17 - s1_range * k7_range - s1_azimuth * k7_azimuth - s1_elevation * k7_elevation;
  p18 = p18 - s1_range * k8_range - s1_azimuth * k8_azimuth - s1_elevation * k8_elevation;
  p19 = p19 - s1_range * k9_range - s1_azimuth * k9_azimuth - s1_elevation * k9_elevation;
  const double s2_range = inverse_range * k2_range;
  const double s2_azimuth = inverse_azimuth * k2_azimuth;
  const double s2_elevation = inverse_elevation * k2_elevation;
  p22 = p22 - s2_range * k2_range - s2_azimuth * k2_azimuth - s2_elevation * k2_elevation;
  p23 = p23 - s2_range * k3_range - s2_azimuth * k3_azimuth - s2_elevation * k3_elevation;
  p24 = p24 - s2_range * k4_range - s2_azimuth * k4_azimuth - s2_elevation * k4_elevation;
  p25 = p25 - s2_range * k5_range - s2_azimuth * k5_azimuth - s2_elevation * k5_elevation;
  p26 = p26 - s2_range * k6_range - s2_azimuth * k6_azimuth - s2_elevation * k6_elevation;
  p27 = p27 - s2_range * k7_range - s2_azimuth * k7_azimuth - s2_elevation * k7_elevation;
  p28 = p28 - s2_range * k8_range - s2_azimuth * k8_azimuth - s2_elevation * k8_elevation;
  p29 = p29 - s2_range * k9_range - s2_azimuth * k9_azimuth - s2_elevation * k9_elevation;
  const double s3_range = inverse_range * k3_range;
  const double s3_azimuth = inverse_azimuth * k3_azimuth;
  const double s3_elevation = inverse_elevation * k3_elevation;
  p33 = p33 - s3_range * k3_range - s3_azimuth * k3_azimuth - s3_elevation * k3_elevation;
  p34 = p34 - s3_range * k4_range - s3_azimuth * k4_azimuth - s3_elevation * k4_elevation;
  p35 = p35 - s3_range * k5_range - s3_azimuth * k5_azimuth - s3_elevation * k5_elevation;
  p36 = p36 - s3_range * k6_range - s3_azimuth * k6_azimuth - s3_elevation * k6_elevation;
  p37 = p37 - s3_range * k7_range - s3_azimuth * k7_azimuth - s3_elevation * k7_elevation;
  p38 = p38 - s3_range * k8_range - s3_azimuth * k8_azimuth - s3_elevation * k8_elevation;
  p39 = p39 - s3_range * k9_range - s3_azimuth * k9_azimuth - s3_elevation * k9_elevation;
  const double s4_range = inverse_range * k4_range;
  const double s4_azimuth = inverse_azimuth * k4_azimuth;
  const double s4_elevation = inverse_elevation * k4_elevation;
  p44 = p44 - s4_range * k4_range - s4_azimuth * k4_azimuth - s4_elevation * k4_elevation;
  p45 = p45 - s4_range * k5_range - s4_azimuth * k5_azimuth - s4_elevation * k5_elevation;
  p46 = p46 - s4_range * k6_range - s4_azimuth * k6_azimuth - s4_elevation * k6_elevation;
  p47 = p47 - s4_range * k7_range - s4_azimuth * k7_azimuth - s4_elevation * k7_elevation;
  p48 = p48 - s4_range * k8_range - s4_azimuth * k8_azimuth - s4_elevation * k8_elevation;
  p49 = p49 - s4_range * k9_range - s4_azimuth * k9_azimuth - s4_elevation * k9_elevation;
  const double s5_range = inverse_range * k5_range;
  const double s5_azimuth = inverse_azimuth * k5_azimuth;
  const double s5_elevation = inverse_elevation * k5_elevation;
  p55 = p55 - s5_range * k5_range - s5_azimuth * k5_azimuth - s5_elevation * k5_elevation;
  p56 = p56 - s5_range * k6_range - s5_azimuth * k6_azimuth - s5_elevation * k6_elevation;
  p57 = p57 - s5_range * k7_range - s5_azimuth * k7_azimuth - s5_elevation * k7_elevation;
  p58 = p58 - s5_range * k8_range - s5_azimuth * k8_azimuth - s5_elevation * k8_elevation;
  p59 = p59 - s5_range * k9_range - s5_azimuth * k9_azimuth - s5_elevation * k9_elevation;
  const double s6_range = inverse_range * k6_range;
  const double s6_azimuth = inverse_azimuth * k6_azimuth;
  const double s6_elevation = inverse_elevation * k6_elevation;
  p66 = p66 - s6_range * k6_range - s6_azimuth * k6_azimuth - s6_elevation * k6_elevation;
  p67 = p67 - s6_range * k7_range - s6_azimuth * k7_azimuth - s6_elevation * k7_elevation;
  p68 = p68 - s6_range * k8_range - s6_azimuth * k8_azimuth - s6_elevation * k8_elevation;
  p69 = p69 - s6_range * k9_range - s6_azimuth * k9_azimuth - s6_elevation * k9_elevation;
  const double s7_range = inverse_range * k7_range;
  const double s7_azimuth = inverse_azimuth * k7_azimuth;
  const double s7_elevation = inverse_elevation * k7_elevation;
  p77 = p77 - s7_range * k7_range - s7_azimuth * k7_azimuth - s7_elevation * k7_elevation;
  p78 = p78 - s7_range * k8_range - s7_azimuth * k8_azimuth - s7_elevation * k8_elevation;
  p79 = p79 - s7_range * k9_range - s7_azimuth * k9_azimuth - s7_elevation * k9_elevation;
  const double s8_range = inverse_range * k8_range;
  const double s8_azimuth = inverse_azimuth * k8_azimuth;
  const double s8_elevation = inverse_elevation * k8_elevation;
  p88 = p88 - s8_range * k8_range - s8_azimuth * k8_azimuth - s8_elevation * k8_elevation;
  p89 = p89 - s8_range * k9_range - s8_azimuth * k9_azimuth - s8_elevation * k9_elevation;
  const double s9_range = inverse_range * k9_range;
  const double s9_azimuth = inverse_azimuth * k9_azimuth;
  const double s9_elevation = inverse_elevation * k9_elevation;
  p99 = p99 - s9_range * k9_range - s9_azimuth * k9_azimuth - s9_elevation * k9_elevation;
  state->mean[0] = x0;
  state->mean[1] = x1;
  state->mean[2] = x2;
  state->mean[3] = x3;
  state->mean[4] = x4;
  state->mean[5] = x5;
  state->mean[6] = x6;
  state->mean[7] = x7;
  state->mean[8] = x8;
  state->mean[9] = x9;
  state->covariance[0] = p00;
  state->covariance[1] = p01;
  state->covariance[2] = p11;
  state->covariance[3] = p02;
  state->covariance[4] = p12;
  state->covariance[5] = p22;
  state->covariance[6] = p03;
  state->covariance[7] = p13;
  state->covariance[8] = p23;
  state->covariance[9] = p33;
  state->covariance[10] = p04;
  state->covariance[11] = p14;
  state->covariance[12] = p24;
  state->covariance[13] = p34;
  state->covariance[14] = p44;
  state->covariance[15] = p05;
  state->covariance[16] = p15;
  state->covariance[17] = p25;
  state->covariance[18] = p35;
  state->covariance[19] = p45;
  state->covariance[20] = p55;
  state->covariance[21] = p06;
  state->covariance[22] = p16;
  state->covariance[23] = p26;
  state->covariance[24] = p36;
  state->covariance[25] = p46;
  state->covariance[26] = p56;
  state->covariance[27] = p66;
  state->covariance[28] = p07;
  state->covariance[29] = p17;
  state->covariance[30] = p27;
  state->covariance[31] = p37;
  state->covariance[32] = p47;
  state->covariance[33] = p57;
  state->covariance[34] = p67;
  state->covariance[35] = p77;
  state->covariance[36] = p08;
  state->covariance[37] = p18;
  state->covariance[38] = p28;
  state->covariance[39] = p38;
  state->covariance[40] = p48;
  state->covariance[41] = p58;
  state->covariance[42] = p68;
  state->covariance[43] = p78;
  state->covariance[44] = p88;
  state->covariance[45] = p09;
  state->covariance[46] = p19;
  state->covariance[47] = p29;
  state->covariance[48] = p39;
  state->covariance[49] = p49;
  state->covariance[50] = p59;
  state->covariance[51] = p69;
  state->covariance[52] = p79;
  state->covariance[53] = p89;
  state->covariance[54] = p99;
}
