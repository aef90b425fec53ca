# SPDX-License-Identifier: Apache-2.0
# bash: the commands, and the options of the command that is typed, are asked of the program's --help.
_pprf()
{
  local word=${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$("$1" --help 2> /dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p')
  elif [[ $word == -* ]]; then
    words=$("$1" "${COMP_WORDS[1]}" --help 2> /dev/null |
      sed -n 's/^  [- ].[, ] \(--[a-z-]*=\{0,1\}\).*/\1/p')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2> /dev/null || true
}
complete -o default -F _pprf pprf
