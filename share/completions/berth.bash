# Completion of berth for bash. berth itself knows its commands, options and jobs.
_berth() {
  local IFS=$'\n'
  local current=${COMP_WORDS[COMP_CWORD]}
  local candidates
  candidates=$(berth complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _berth berth
