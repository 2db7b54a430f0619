import type { ArgumentsCamelCase, Argv } from 'yargs'
import { allowAddonsIn } from '../../lib/assets.ts'
import { optionRows, readOptions } from '../../lib/options.ts'
import { createServer } from '../../lib/server/create.ts'
import { commandWord } from '../command-word.ts'
import { drainOnSignal } from '../drain.ts'

export function builder(line: Argv): Argv {
  for (const { flag, kind, choices, about, env, shownDefault } of optionRows()) {
    line.option(flag, {
      type: kind,
      describe: `${about} [${env}]`,
      requiresArg: kind !== 'boolean',
      ...(choices && { choices }),
      ...(shownDefault !== undefined && { defaultDescription: shownDefault })
    })
  }
  return line
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readOptions(args, process.env)
  allowAddonsIn(options.data)
  const server = await createServer(options)
  drainOnSignal(() => server.close())
  console.log(`afield listening on ${server.url}`)
  console.log(whatNext(options.publicUrl ?? server.url))
}

function whatNext(url: string): string {
  return `
Open ${url} in a browser to create your account.
Then, on the computer where your agents work:
  ${commandWord()} login --server ${url}
  ${commandWord()} demo      a scripted agent, to try everything
  ${commandWord()} claude    Claude Code`
}
