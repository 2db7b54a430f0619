/** A command for completion: its name and a short description. */
interface Completed {
  name: string
  about: string
}

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/**
 * The script that a shell loads at its start. It completes the names of commands itself, and calls `afield complete` for the options of a command,
 * its known words and the ids of sessions; otherwise it completes files, as for any program.
 */
export function completionFor(shell: Shell, commands: readonly Completed[]): string {
  switch (shell) {
    case 'bash':
      return `_afield() {
  local IFS=$'\\n' found
  if [ "$COMP_CWORD" -eq 1 ]; then
    found='${commands.map(({ name }) => name).join('\n')}'
  else
    found=$(afield complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  fi
  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _afield afield
`
    case 'zsh':
      return `#compdef afield
_afield() {
  local -a commands=(
${commands.map(({ name, about }) => `    ${quoted(`${name}:${about}`)}`).join('\n')}
  ) found
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  found=("\${(@f)$(afield complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\\\:/g' -e $'s/\\t/:/')}")
  if [[ -n "$found" ]]; then _describe word found; else _files; fi
}
compdef _afield afield
`
    case 'fish':
      return [
        ...commands.map(({ name, about }) => `complete -c afield -n __fish_use_subcommand -f -a ${name} -d ${quoted(about)}\n`),
        `complete -c afield -n 'not __fish_use_subcommand' -a '(set -l words (commandline -opc); afield complete -- $words[2..] (commandline -ct) 2>/dev/null)'\n`
      ].join('')
  }
}

/** For all three shells, unless the text ends with a backslash. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
