import { resolve } from 'node:path'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { demoKind } from '../../lib/wrapper/agents/demo/demo.ts'
import { openDemoFolder } from '../../lib/wrapper/agents/demo/folder.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { agentOptions, anyWords, readAgentOptions, resumeOption, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return resumeOption(agentOptions(line))
    .positional('prompt', anyWords('What the agent should do first'))
    .option('folder', { type: 'string', requiresArg: true, describe: 'Folder it may write to; by default one of its own' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readAgentOptions(args)
  const { home, env } = options
  const directory = typeof args['folder'] === 'string' ? resolve(args['folder']) : openDemoFolder(home.path, env)
  process.exit(
    await runAgent({ ...options, directory, kind: demoKind(home.path), prompt: wordsOf(args, 'prompt').join(' ') || options.prompt })
  )
}
