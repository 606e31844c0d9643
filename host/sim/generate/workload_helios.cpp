#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// data/SOURCES.md, "helios": the Venus cluster. Mean 6.74 GPUs; published: 6.736.
constexpr Share kHeliosGpus[] = {{517'700, 1}, {55'000, 2}, {2'000, 3},   {73'000, 4}, {4'000, 6},  {248'000, 8},
                                 {42'000, 16}, {9'000, 24}, {27'000, 32}, {3'000, 40}, {2'500, 48}, {5'000, 64},
                                 {1'500, 80},  {1'000, 96}, {6'500, 128}, {2'800, 160}};

constexpr QuantilePoint kHeliosRun1[] = {{0, 1},           {100'000, 17},     {250'000, 67},     {500'000, 190},      {750'000, 1'200},
                                         {900'000, 8'400}, {950'000, 33'000}, {980'000, 95'000}, {1'000'000, 420'000}};
constexpr QuantilePoint kHeliosRun4[] = {{0, 1},
                                         {100'000, 15},
                                         {250'000, 63},
                                         {500'000, 190},
                                         {750'000, 1'900},
                                         {900'000, 45'000},
                                         {950'000, 120'000},
                                         {980'000, 170'000},
                                         {1'000'000, 680'000}};
constexpr QuantilePoint kHeliosRun8[] = {{0, 1},
                                         {100'000, 26},
                                         {250'000, 98},
                                         {500'000, 220},
                                         {750'000, 1'200},
                                         {900'000, 26'000},
                                         {950'000, 66'000},
                                         {980'000, 170'000},
                                         {1'000'000, 450'000}};
constexpr QuantilePoint kHeliosRunMore[] = {{0, 1},
                                            {100'000, 10},
                                            {250'000, 65},
                                            {500'000, 250},
                                            {750'000, 2'500},
                                            {900'000, 50'000},
                                            {950'000, 110'000},
                                            {980'000, 170'000},
                                            {1'000'000, 660'000}};
constexpr QuantilePoint kHeliosWait[] = {{0, 0},           {100'000, 0},     {250'000, 0},      {500'000, 0},       {750'000, 120},
                                         {900'000, 1'500}, {950'000, 5'000}, {980'000, 15'000}, {1'000'000, 50'000}};

}  // namespace

const WorkloadModel& helios_model() {
  static const WorkloadModel model{kHeliosGpus, {},         {kHeliosRun1, kHeliosRun4, kHeliosRun8, kHeliosRunMore}, kHeliosWait, 526'000,
                                   272'000,     "V100-32GB"};
  return model;
}

}  // namespace berth::sim
