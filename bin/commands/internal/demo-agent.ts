import type { ArgumentsCamelCase, Argv } from 'yargs'
import { runDemoAgent } from '../../../lib/wrapper/agents/demo/main.ts'

// The scripted agent of `afield demo`, as its own program that speaks ACP.
export function builder(line: Argv): Argv {
  return line.positional('state', { type: 'string', demandOption: true })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  await runDemoAgent(String(args['state']))
  // No one is left to hear about a turn that is still running.
  process.exit(0)
}
