#pragma once

#include <string>
#include <string_view>

/// Checks a document against a schema of data/schemas.
/// It supports only the keywords used there. An unknown keyword is a fault of the schema, so that nothing goes unchecked.
namespace berth::test {

/// The first fault with its location, such as "/plans/0/worht: no such field"; empty: none.
std::string schema_fault(std::string_view document, std::string_view schema);

/// The fields that the schema has and the document lacks everywhere, such as "/jobs/gpus /jobs/types"; empty: it uses all.
std::string unused_fields(std::string_view document, std::string_view schema);

}  // namespace berth::test
