import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { readPolicy, writeFolders } from '../../lib/wrapper/session/methods/policy.ts'
import { plain } from '../../lib/wrapper/terminal/style.ts'
import { tell } from '../../lib/wrapper/terminal/terminal.ts'
import { readServerOption } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return line
    .positional('path', { type: 'string', describe: 'The folder, including its subfolders' })
    .option('list', { type: 'boolean', describe: 'List allowed folders' })
    .option('remove', { type: 'boolean', describe: 'Stop allowing it' })
    .example('$0 allow /srv/projects', 'in addition to your home directory')
    .example('$0 allow --remove ~', 'stop allowing your home directory')
}

export function handler(args: ArgumentsCamelCase): void {
  const { home, terminal } = readServerOption(args)
  const path = typeof args['path'] === 'string' ? args['path'] : undefined
  if (path !== undefined && args['list'] !== true) change(home.path, path, args['remove'] === true)
  else if (args['remove'] === true) throw new CannotStart(`Which folder? For example:\n  ${typed('allow --remove ~/code')}`)
  const { folders } = readPolicy(home.path)
  if (folders.length === 0) tell(terminal, 'Your phone may not start sessions in any folder on this computer.')
  else terminal.write(`Your phone may start sessions in these folders:\n${folders.map(folder => `  ${plain(folder)}\n`).join('')}`)
}

function change(home: string, path: string, isRemoval: boolean): void {
  const asked = resolve(path.replace(/^~(?=$|\/)/, homedir()))
  if (isRemoval) {
    writeFolders(home, folders => {
      const left = folders.filter(folder => folder !== asked && folder !== real(asked))
      if (left.length < folders.length) return left
      throw new CannotStart(`${asked} is not an allowed folder. See the list with:\n  ${typed('allow --list')}`)
    })
    return
  }
  if (!statSync(asked, { throwIfNoEntry: false })?.isDirectory()) throw new CannotStart(`The folder ${asked} does not exist.`)
  writeFolders(home, folders => [...new Set([...folders, real(asked)])])
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
