/** A command as it is completed: its name and a few words about it. */
export interface Completed {
  name: string
  about: string
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What a shell reads at its start, so that it completes the names of commands; behind them it completes files, as for any program. */
export function completionFor(shell: Shell, commands: readonly Completed[]): string {
  switch (shell) {
    case 'bash':
      return `_afield() {
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "\${COMP_WORDS[1]}"))
  fi
}
complete -o default -F _afield afield
`
    case 'zsh':
      return `#compdef afield
_afield() {
  local -a commands=(
${commands.map(({ name, about }) => `    ${quoted(`${name}:${about}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; else _files; fi
}
compdef _afield afield
`
    case 'fish':
      return commands.map(({ name, about }) => `complete -c afield -n __fish_use_subcommand -f -a ${name} -d ${quoted(about)}\n`).join('')
  }
}

/** For all three shells, as long as the text has no backslash at its end. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
