#pragma once

/// By + - * / and exact scaling alone: the library's own differ from one library to the next, and decisions may not.
namespace berth::policy {

/// The natural logarithm of a finite x > 0, within 10^-12 of max(1, |ln x|).
double plain_log(double x);

/// e^x of x <= 0, within 10^-13 of itself; 0 below -700.
double plain_exp(double x);

}  // namespace berth::policy
