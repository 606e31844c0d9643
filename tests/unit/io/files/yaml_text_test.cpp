#include "host/io/files/yaml_text.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"

namespace berth::io::yaml_text_test {
namespace {

std::string problem_of(const std::string& yaml) {
  try {
    json_of_yaml(yaml, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST(YamlText, EveryValueStaysOnItsLine) {
  EXPECT_EQ(json_of_yaml("# first\n- a: 1\n  b:\n    - x\n    - 'y'\n\n- c: ~\n", "f"),
            "\n[{\"a\":1\n,\"b\"\n:[\"x\"\n,\"y\"]}\n\n,{\"c\":null}]\n");
  EXPECT_EQ(json_of_yaml("a: b\n", "f", 3), "\n\n{\"a\":\"b\"}\n");
}

TEST(YamlText, OnlyPlainScalarsInJsonsGrammarHaveAType) {
  EXPECT_EQ(json_of_yaml("[1, -2.5, 1e3, 010, +1, .5, 0x1, '1', true, True, yes, null, ~, !!str 3]", "f"),
            "[1,-2.5,1e3,\"010\",\"+1\",\".5\",\"0x1\",\"1\",true,true,\"yes\",null,null,\"3\"]\n");
  EXPECT_EQ(json_of_yaml("{1: a, true: b}", "f"), "{\"1\":\"a\",\"true\":\"b\"}\n");
  EXPECT_EQ(json_of_yaml("a: |\n  two\n  lines\nb: c\n", "f"), "{\"a\":\"two\\nlines\\n\"\n\n\n,\"b\":\"c\"}\n");
}

TEST(YamlText, DocumentsFollowOneAnother) { EXPECT_EQ(json_of_yaml("---\na: 1\n---\nb: 2\n", "f"), "\n{\"a\":1}\n\n{\"b\":2}\n"); }

TEST(YamlText, WhatReadersCannotHoldIsRefusedAtItsLine) {
  EXPECT_EQ(problem_of("a: &x 1\nb: 2\n"), "f:1: an anchor: write the value out where it is used");
  EXPECT_EQ(problem_of("a: 1\nb: *x\n"), "f:2: an alias: write the value out");
  EXPECT_EQ(problem_of("a: 1\n? [b]\n: 2\n"), "f:2: a key that is no text");
  EXPECT_EQ(problem_of("a: 1\n b: 2\n").substr(0, 13), "f:2: no YAML:");
  EXPECT_EQ(problem_of("a: [1\n").substr(0, 13), "f:2: no YAML:");
  EXPECT_EQ(problem_of(std::string(65, '[') + std::string(65, ']')), "f:1: more than 64 lists and objects inside one another");
}

}  // namespace berth::io::yaml_text_test
