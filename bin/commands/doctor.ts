import type { ArgumentsCamelCase, Argv } from 'yargs'
import { examine, keepsData } from '../../lib/doctor/examine.ts'
import type { Finding } from '../../lib/doctor/finding.ts'
import { readOptions } from '../../lib/options.ts'
import { examineThisComputer } from '../../lib/wrapper/health.ts'
import { type Style, styleFor } from '../../lib/wrapper/terminal/style.ts'
import { serverOptions } from './serve.ts'

export function builder(line: Argv): Argv {
  return serverOptions(line)
    .option('json', { type: 'boolean', describe: 'Print an array of findings for a program' })
    .example('$0 doctor --json', 'the same for programs')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const findings = await look(args)
  const style = styleFor(process.stdout, process.env)
  console.log(args['json'] === true ? JSON.stringify(findings, undefined, 2) : findings.map(finding => shown(finding, style)).join('\n'))
  process.exitCode = findings.some(({ state }) => state === 'fail') ? 1 : 0
}

/** The server that keeps its data here, this computer where agents work, or both. */
async function look(args: ArgumentsCamelCase): Promise<Finding[]> {
  const options = readOptions(args, process.env)
  const computer = await examineThisComputer(process.env, Date.now)
  return computer && !keepsData(options) ? computer : [...(await examine(options, Date.now)), ...(computer ?? [])]
}

const indent = 22

function shown({ of, state, says, advice }: Finding, { good, needs, bad, dim }: Style): string {
  const colour = { ok: good, warn: needs, fail: bad }[state]
  const columns = Math.min(120, process.stdout.columns ?? 80)
  const [first = '', ...rest] = wrapped(says, columns - indent)
  const more = [...rest, ...wrapped(advice === undefined ? '' : `→ ${advice}`, columns - indent).map(dim)]
  return [`${colour(state.padEnd(6))}${of.padEnd(indent - 6)}${first}`, ...more.map(line => ' '.repeat(indent) + line)].join('\n')
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').filter(word => word !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
