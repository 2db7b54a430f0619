import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { acpKind } from '../../lib/wrapper/agents/kinds.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { runAgent } from '../../lib/wrapper/run/run.ts'
import { agentOptions, anyWords, readAgentOptions, resumeOption, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return resumeOption(agentOptions(line))
    .parserConfiguration({ 'populate--': true, 'unknown-options-as-args': true })
    .positional(
      'agent',
      anyWords('The command that starts the agent, with its arguments. The agent must support ACP, the Agent Client Protocol')
    )
    .example('$0 run gemini --acp', 'Gemini')
    .example('$0 run -- opencode acp', 'opencode; everything after -- goes to the agent')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const [command, ...rest] = wordsOf(args, 'agent')
  if (command === undefined) throw new CannotStart(`Which agent? For example:\n  ${typed('run gemini --acp')}`)
  process.exit(await runAgent({ ...readAgentOptions(args), kind: acpKind(command, rest) }))
}
