#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// data/SOURCES.md, "pai": instances of a gang.
constexpr Share kInstances[] = {{770'000, 1}, {31'000, 2}, {15'000, 3},  {14'000, 4}, {17'000, 5},  {15'000, 8},
                                {40'000, 10}, {8'000, 12}, {4'000, 15},  {9'000, 16}, {21'000, 20}, {8'000, 25},
                                {10'000, 30}, {9'000, 40}, {15'000, 50}, {5'000, 64}, {9'000, 100}};
// Fraction of a GPU per instance, in ppm; chosen so that the median is 0.5 and the mean 0.683 GPUs, as published.
constexpr Share kPart[] = {{10'000, 100'000},   {300'000, 250'000}, {300'000, 500'000}, {360'000, 1'000'000},
                           {20'000, 2'000'000}, {5'000, 4'000'000}, {5'000, 8'000'000}};

constexpr QuantilePoint kPaiRun1[] = {{0, 5},
                                      {100'000, 35},
                                      {250'000, 94},
                                      {500'000, 470},
                                      {750'000, 3'200},
                                      {900'000, 11'000},
                                      {950'000, 20'000},
                                      {980'000, 43'000},
                                      {1'000'000, 66'000}};
constexpr QuantilePoint kPaiRun4[] = {{0, 6},
                                      {100'000, 57},
                                      {250'000, 150},
                                      {500'000, 540},
                                      {750'000, 2'600},
                                      {900'000, 11'000},
                                      {950'000, 32'000},
                                      {980'000, 62'000},
                                      {1'000'000, 110'000}};
constexpr QuantilePoint kPaiRun8[] = {{0, 27},           {100'000, 81},     {250'000, 190},    {500'000, 1'400},    {750'000, 6'400},
                                      {900'000, 19'000}, {950'000, 40'000}, {980'000, 92'000}, {1'000'000, 130'000}};
constexpr QuantilePoint kPaiRunMore[] = {{0, 18},           {100'000, 170},    {250'000, 440},    {500'000, 1'800},   {750'000, 6'300},
                                         {900'000, 19'000}, {950'000, 32'000}, {980'000, 58'000}, {1'000'000, 85'000}};
constexpr QuantilePoint kPaiWait[] = {{0, 0},         {100'000, 0},     {250'000, 1},     {500'000, 9},       {750'000, 60},
                                      {900'000, 300}, {950'000, 1'200}, {980'000, 4'000}, {1'000'000, 21'000}};

}  // namespace

const WorkloadModel& pai_model() {
  // The summary has no final states, so all jobs count as completed.
  static const WorkloadModel model{kInstances, kPart, {kPaiRun1, kPaiRun4, kPaiRun8, kPaiRunMore}, kPaiWait, 1'000'000, 0, "T4-16GB"};
  return model;
}

}  // namespace berth::sim
