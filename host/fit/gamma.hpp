#pragma once

namespace berth::fit {

/// ln Gamma(x) and its derivative, x > 0, within 10^-11 of max(1, |value|). Ours, so that a fit differs as little as may be from library to
/// library, and threads do not meet in a global sign.
double log_gamma(double x);
double digamma(double x);

}  // namespace berth::fit
