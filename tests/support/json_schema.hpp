#pragma once

#include <string>
#include <string_view>

/// A document against one of data/schemas. Knows the keywords that are asked of it, and no others: one that it does not know is a fault of
/// the schema, so that nothing goes unchecked.
namespace berth::test {

/// "/plans/0/worht: no such field": the first fault, where it is; empty: none.
std::string schema_fault(std::string_view document, std::string_view schema);

}  // namespace berth::test
