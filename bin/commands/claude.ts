import type { ArgumentsCamelCase, Argv } from 'yargs'
import { claudeKind } from '../../lib/wrapper/agents/claude/claude.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { agentOptions, anyWords, claudeOptions, readAgentOptions, resumeOption, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return resumeOption(agentOptions(line))
    .positional('prompt', anyWords('What Claude should do first'))
    .option('remote', { type: 'boolean', describe: 'Start on the phone, without Claude Code’s own screen' })
    .option('yes', { type: 'boolean', alias: 'y', describe: 'Install the adapter for Claude Code without asking' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readAgentOptions(args)
  const kind = claudeKind(claudeOptions(args, options))
  process.exit(await runAgent({ ...options, kind, prompt: wordsOf(args, 'prompt').join(' ') || options.prompt }))
}
