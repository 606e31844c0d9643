#pragma once

#include <concepts>
#include <type_traits>

/// Each view of columns has one function `for_each_column(sizes..., visit, views...)` beside it: the only list of its columns.
/// It calls `visit(n, columns...)` for every column, with the number of its elements and that column of each of the views.
/// Uploads, downloads, allocation, copies and comparisons come from it. A new column is added there.
namespace berth::kernel {

/// T, const or not.
template <class View, class T>
concept ViewOf = std::same_as<std::remove_const_t<View>, T>;

/// What a column points to.
template <class Column>
using ElementOf = std::remove_pointer_t<std::remove_reference_t<Column>>;

}  // namespace berth::kernel
