import type { ArgumentsCamelCase, Argv } from 'yargs'
import { codexKind } from '../../lib/wrapper/agents/codex/codex.ts'
import { removeSignIn } from '../../lib/wrapper/agents/codex/sign-in.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { agentOptions, anyWords, claudeOptions, readAgentOptions, resumeOption, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return resumeOption(agentOptions(line))
    .positional('prompt', anyWords('What Codex should do first'))
    .option('remote', { type: 'boolean', describe: 'Start on the phone, without Codex’s own screen' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readAgentOptions(args)
  const kind = codexKind(claudeOptions(args, options))
  const running = runAgent({ ...options, kind, prompt: wordsOf(args, 'prompt').join(' ') || options.prompt })
  process.exit(await running.finally(() => removeSignIn(options.home.path, options.tag)))
}
