import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { ArgumentsCamelCase, Argv } from 'yargs'

// The single-file program runs an agent's adapter on its own Node.js.
export function builder(line: Argv): Argv {
  return line.positional('module', { type: 'string', demandOption: true })
}

export function handler(args: ArgumentsCamelCase): void {
  const file = resolve(String(args['module']))
  // The adapter looks there for its name and its arguments.
  process.argv.splice(1, process.argv.length, file, ...[args['--'] ?? []].flat().map(String))
  createRequire(file)(file)
}
