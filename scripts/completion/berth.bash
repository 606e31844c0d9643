# Completion of berth for bash; installed as share/bash-completion/completions/berth.

# The names of a list in a text of the command: the indented lines below the heading.
_berth_names() {
  "${COMP_WORDS[0]}" "${@:2}" 2>/dev/null |
    awk -v head="^$1" '$0 ~ head { on = 1; next } /^[^ ]/ { on = 0 } on && /^  [a-z]/ { sub(/:$/, "", $1); print $1 }'
}

_berth() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local commands="plan explain whatif when validate bound import topology generate shadow simulate report sweep capacity tune fit bench policies devices version help"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
    return
  fi
  local words=
  [[ $command == bench && $prev == --json ]] && prev=--out  # a flag of the others
  case $prev in
    help) words=$commands ;;
    import) words="$(_berth_names Formats import --help) --help" ;;
    --backend) words="auto reference cpu cuda" ;;
    --objective) words=$(_berth_names objectives: policies price) ;;
    --color) words="auto always never" ;;
    --estimates)
      words="history-mean none oracle"
      [[ $command == simulate ]] && words="oracle reactive rolling noise: none"
      ;;
    --progress) words="none epochs noise:" ;;
    --format)
      words=$(_berth_names Formats: topology --help)
      [[ $command == report ]] && words="html csv json svg"
      ;;
    --part) words=$(_berth_names Parts: report --help) ;;
    --metric) words=$(_berth_names Metrics: report --help) ;;
    --trace-format | --history-format) words=$(_berth_names "Formats of traces:" import --help) ;;
    --virtual-clusters) words="nodes guarantees limits" ;;
    --placement) words="count consolidate emptiest topology" ;;
    --overheads)
      words="none default"
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -f -- "$cur")
      return
      ;;
    --fidelity) words="rate tiers shared_links iteration" ;;
    --network) words="fabric= a= b= eta=" ;;
    --failures) words="seren kalos node= gpu= repair= crash= kill=" ;;
    --by) words="queue vc user size" ;;
    --workload) words="philly helios pai llm ones dally dally-gangs" ;;
    --suite) words="headline" ;;
    --until) words="jct: queue: p99_jct: makespan: gpu_utilisation:" ;;
    --fabric) words="auto tree nvl72 rail" ;;
    --policy | --compare | --new-policy) words=$("${COMP_WORDS[0]}" policies --names 2>/dev/null) ;;
    --snapshot | --slurm | --plan | --edits | --state-in | --state-out | --out | --svg | --lp | --cluster | --test | --trace | --events | --merge | --hash | --jobs-out | --trace-out | --history-out | --series-out)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    --dump-on-error)
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    *)
      case $command in
        plan)
          words="--snapshot --slurm --held --policy --param --backend --device --threads --seed --max-iterations --budget --state-in --state-out --compare --out --json
            --no-timing --dump-on-error --color --rows --all"
          ;;
        explain) words="--snapshot --slurm --held --plan --job --when --history --history-format --futures --links --json --svg --color --rows --all" ;;
        whatif)
          words="--snapshot --slurm --held --policy --param --add --drain --remove --quota --job --cancel --priority --new-policy --edits --show
            --make-room --json --rows"
          ;;
        when)
          words="--snapshot --slurm --held --policy --param --history --history-format --futures --within --levels --failures --seed --threads --json --rows
            --backtest --cluster --from --to --every --learn --draw-limits"
          ;;
        validate) words="--snapshot --slurm --held --plan --max --json" ;;
        bound) words="--snapshot --slurm --held --policy --objective --param --lp --json" ;;
        import) words="--cluster --at --elastic --estimates --held --gpus-per-node --gpu-type --topology --nics --bandwidth --oversubscription --links --failed --failed-links --out" ;;
        topology) words="--snapshot --format --out" ;;
        generate)
          words="--nodes --gpus-per-node --gpu-types --fabric --nodes-per-rack --racks-per-pod --oversubscription --outage --spare --no-labels --jobs
            --workload --elastic --waiting --queues --virtual-clusters --history --no-demands --seed --out"
          ;;
        shadow) words="--slurm --held --policy --param --slack --rows --json" ;;
        simulate) words="--cluster --trace --trace-format --virtual-clusters --stream --workload --jobs --load --policy --policy-exec --policy-timeout --param --placement --estimates --progress --overheads --events --failures --round --at-events --elastic --fidelity --gpu-jobs --network --by --out --jobs-out --trace-out --history-out --series-out --series-every --stays --threads --seed --json" ;;
        report) words="--out --format --part --metric --baseline --links --run --gantt-rows" ;;
        sweep) words="--out --until --threads --shard --merge --dry-run --hash --json" ;;
        capacity)
          words="--target --node --fixed --from --to --alone --price --power --power-price --seeds --confidence --resample --load-gpus --warm-up
            --trace --trace-format --virtual-clusters --workload --jobs --load --policy --param --placement --estimates --progress --overheads --events --failures --round --at-events --elastic --fidelity --gpu-jobs --network --out --threads --json"
          ;;
        tune)
          words="--cluster --window --validate --metric --space --timers-by-demand --resamples --backend --budget --run-limit --seeds --seed
            --trace --trace-format --virtual-clusters --workload --jobs --load --policy --param --placement --estimates --progress --overheads --events --failures --round --at-events --elastic --fidelity --gpu-jobs --network --out --threads --json"
          ;;
        fit) words="--profile --predict --max-error --out --test --leave-out --json" ;;
        bench) words="--suite --threads --device --seed --json --quick" ;;
        policies) words="--json --names $("${COMP_WORDS[0]}" policies --names 2>/dev/null)" ;;
        devices | version) words="--json" ;;
      esac
      [[ ($command == import || $command == shadow || $command == report || $command == sweep || $command == fit) && $cur != -* ]] && words= && mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      words+=" --help"
      ;;
  esac
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o filenames -F _berth berth
