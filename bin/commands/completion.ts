import type { ArgumentsCamelCase, Argv } from 'yargs'
import { completionFor, shells } from '../completion.ts'

export function builder(line: Argv): Argv {
  return line
    .positional('shell', { choices: shells, demandOption: true, describe: 'The shell to write for' })
    .example('source <($0 completion bash)', 'in ~/.bashrc')
    .example('source <($0 completion zsh)', 'in ~/.zshrc, after compinit')
    .example('$0 completion fish | source', 'in ~/.config/fish/config.fish')
}

export function handlerFor(commands: readonly { usage: string; about: string | false }[]) {
  const named = commands.flatMap(({ usage, about }) => (about === false ? [] : { name: usage.split(' ')[0] ?? usage, about }))
  return (args: ArgumentsCamelCase): void => {
    const shell = shells.find(shell => shell === args['shell'])
    if (shell) process.stdout.write(completionFor(shell, named))
  }
}
