import type { ArgumentsCamelCase, Argv } from 'yargs'
import { opencodeKind } from '../../lib/wrapper/agents/opencode/opencode.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { agentOptions, anyWords, claudeOptions, readAgentOptions, resumeOption, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return resumeOption(agentOptions(line))
    .positional('prompt', anyWords('What opencode should do first'))
    .option('remote', { type: 'boolean', describe: 'Start on the phone, without opencode’s own screen' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readAgentOptions(args)
  const kind = opencodeKind(claudeOptions(args, options))
  process.exit(await runAgent({ ...options, kind, prompt: wordsOf(args, 'prompt').join(' ') || options.prompt }))
}
