#pragma once

/// Uses only + - * / and exact scaling: functions of math libraries differ between libraries, and decisions must not.
namespace berth::policy {

/// The natural logarithm of a finite x > 0, within 10^-12 of max(1, |ln x|).
double plain_log(double x);

/// e^x for x <= 0, with relative error 10^-13; 0 below -700.
double plain_exp(double x);

}  // namespace berth::policy
