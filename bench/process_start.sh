#!/usr/bin/env bash
# The command from process start to end: the least and the median of 200 runs, in ms, beside `true`.
set -euo pipefail
command=${1:-breakeven}
measure() {
    for _ in $(seq 200); do
        local start=$EPOCHREALTIME
        "$@" >/dev/null
        echo $((${EPOCHREALTIME/./} - ${start/./}))
    done | sort -n | awk '{t[NR] = $1} END {printf "least %.1f ms, median %.1f ms\n", t[1] / 1000, t[int(NR / 2)] / 1000}'
}
printf '%-42s' "true"
measure /bin/true
printf '%-42s' "breakeven estimate, one GPU"
measure "$command" estimate --flops "10,000 GFLOPS" --data 1GB --cpu-rate 400GFLOP/s --gpu "RTX 3080"
printf '%-42s' "breakeven estimate, every GPU"
measure "$command" estimate --flops "10,000 GFLOPS" --data 1GB --cpu-rate 400GFLOP/s
