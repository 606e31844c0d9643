#pragma once

namespace berth::fit {

/// ln Gamma(x) and its derivative, x > 0, within 10^-11 of max(1, |value|). Own code, so that a fit depends little on
/// the library, and threads share no global sign.
double log_gamma(double x);
double digamma(double x);

}  // namespace berth::fit
