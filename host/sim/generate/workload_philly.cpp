#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// data/SOURCES.md, "philly". The fraction of single-GPU jobs gives the published mean of 1.928 GPUs.
constexpr Share kPhillyGpus[] = {{792'600, 1}, {67'500, 2}, {69'400, 4}, {60'000, 8}, {7'400, 16}, {2'500, 32}, {500, 64}, {100, 128}};

constexpr QuantilePoint kPhillyRun1[] = {{0, 1},           {100'000, 48},     {250'000, 94},     {500'000, 860},      {750'000, 2'100},
                                         {900'000, 6'600}, {950'000, 15'000}, {980'000, 53'000}, {1'000'000, 320'000}};
constexpr QuantilePoint kPhillyRun4[] = {{0, 1},
                                         {100'000, 12},
                                         {250'000, 16},
                                         {500'000, 290},
                                         {750'000, 35'000},
                                         {900'000, 130'000},
                                         {950'000, 180'000},
                                         {980'000, 370'000},
                                         {1'000'000, 630'000}};
constexpr QuantilePoint kPhillyRun8[] = {{0, 1},
                                         {100'000, 170},
                                         {250'000, 1'500},
                                         {500'000, 19'000},
                                         {750'000, 130'000},
                                         {900'000, 270'000},
                                         {950'000, 410'000},
                                         {980'000, 630'000},
                                         {1'000'000, 1'000'000}};
constexpr QuantilePoint kPhillyRunMore[] = {{0, 1},
                                            {100'000, 54},
                                            {250'000, 440},
                                            {500'000, 16'000},
                                            {750'000, 78'000},
                                            {900'000, 200'000},
                                            {950'000, 350'000},
                                            {980'000, 480'000},
                                            {1'000'000, 890'000}};
constexpr QuantilePoint kPhillyWait[] = {{0, 0},           {100'000, 0},      {250'000, 20},     {500'000, 189},      {750'000, 1'200},
                                         {900'000, 6'000}, {950'000, 15'000}, {980'000, 40'000}, {1'000'000, 127'000}};

}  // namespace

const WorkloadModel& philly_model() {
  static const WorkloadModel model{kPhillyGpus, {},         {kPhillyRun1, kPhillyRun4, kPhillyRun8, kPhillyRunMore}, kPhillyWait, 604'000,
                                   90'000,      "V100-32GB"};
  return model;
}

}  // namespace berth::sim
