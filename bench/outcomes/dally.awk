# A cluster for Dally's study, as a snapshot without jobs: racks of nodes below one core, in the tiers of its simulator.
#   awk -v racks=4 -v nodes=4 -v gpus=8 -v inner=250 -v nic=25 -v uplink=12 -v latency_ms=51 -f bench/outcomes/dally.awk
# inner, nic and uplink are GB/s: of a GPU in its node, of a node in its rack, of a rack. latency_ms is that of a hop between racks.
BEGIN {
  printf "{\"schema\": \"berth.snapshot.v1\", \"name\": \"dally %dx%dx%d\", \"now_s\": 0,\n", racks, nodes, gpus
  printf "\"gpu_types\": [{\"id\": \"gpu\", \"nvlink_bytes_per_s\": %.0f}],\n\"domains\": [", inner * 1e9
  for (r = 0; r < racks; r++)
    printf "%s{\"id\": \"r%02d\", \"level\": \"rack\", \"uplink_bytes_per_s\": %.0f, \"latency_s\": %.6f}", r ? ",\n" : "", r, uplink * 1e9, latency_ms / 1000
  printf "],\n\"nodes\": ["
  for (n = 0; n < racks * nodes; n++)
    printf "%s{\"id\": \"n%03d\", \"gpu_type\": \"gpu\", \"gpus\": %d, \"nics\": 1, \"nic_bytes_per_s\": %.0f, \"domains\": {\"switch\": \"r%02d\"}}",
      n ? ",\n" : "", n, gpus, nic * 1e9, int(n / nodes)
  printf "],\n\"jobs\": []}\n"
}
