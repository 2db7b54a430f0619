import type { ArgumentsCamelCase, Argv } from 'yargs'
import { examine, keepsData } from '../../lib/doctor/examine.ts'
import type { Finding } from '../../lib/doctor/finding.ts'
import { examineThisComputer } from '../../lib/wrapper/account/health.ts'
import { type Style, styleFor, wrapped } from '../../lib/wrapper/terminal/style.ts'
import { processTerminal } from '../../lib/wrapper/terminal/terminal.ts'
import { readServerOptions, serverOptions } from '../server-options.ts'

export function builder(line: Argv): Argv {
  return serverOptions(line)
    .option('json', { type: 'boolean', describe: 'Print the findings as a JSON array' })
    .example('$0 doctor --json', 'the same as JSON')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const findings = await look(args)
  const style = styleFor(process.stdout, process.env)
  const { columns } = processTerminal()
  console.log(
    args['json'] === true ? JSON.stringify(findings, undefined, 2) : findings.map(finding => shown(finding, style, columns)).join('\n')
  )
  process.exitCode = findings.some(({ state }) => state === 'fail') ? 1 : 0
}

/** Checks the server whose data is here, this computer where agents work, or both. */
async function look(args: ArgumentsCamelCase): Promise<Finding[]> {
  const { options } = readServerOptions(args)
  const computer = await examineThisComputer(process.env, Date.now)
  return computer && !keepsData(options) ? computer : [...(await examine(options, Date.now)), ...(computer ?? [])]
}

/** Beside its name, or below it on a narrow screen. */
export function shown({ of, state, says, advice }: Finding, { good, needs, bad, dim }: Style, columns: number): string {
  const name = `${{ ok: good, warn: needs, fail: bad }[state](state.padEnd(6))}${of}`
  const isNarrow = columns < 60
  const indent = isNarrow ? 6 : 22
  const [first = '', ...rest] = wrapped(says, columns - indent)
  const beside = isNarrow ? [name, ' '.repeat(indent) + first] : [name + ' '.repeat(indent - 6 - of.length) + first]
  const more = [...rest, ...(advice === undefined ? [] : wrapped(`→ ${advice}`, columns - indent).map(dim))]
  return [...beside, ...more.map(line => ' '.repeat(indent) + line)].join('\n')
}
