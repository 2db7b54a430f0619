import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import type { ArgumentsCamelCase, Argv } from 'yargs'

// The single-file program runs an agent's adapter on its own Node.js.
export function builder(line: Argv): Argv {
  return line.positional('module', { type: 'string', demandOption: true })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const file = resolve(String(args['module']))
  // The adapter looks there for its name and its arguments.
  process.argv.splice(1, process.argv.length, file, ...[args['--'] ?? []].flat().map(String))
  // The single-file program is CommonJS, whose `import` cannot load from disk; this one is Node's.
  const script = new Script(`import(${JSON.stringify(pathToFileURL(file).href)})`, {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  await script.runInThisContext()
}
