import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readRuns, shareOf } from '../../docs/evidence.ts'
import { type ProofName, proofs } from '../../docs/proofs.ts'

// node build.mjs torture [proof …] [--minutes N] [--seed S]   the proofs of docs/evidence.md in turn, or those named: each with the
// command that the page gives for it, after its controls if the record does not have them. Begins with the proof that the record has
// least of, so that begun again it goes on; ends after one turn, or after so many minutes. Ctrl-C ends it.
const root = join(import.meta.dirname, '../..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } }
})
const all = Object.keys(proofs) as ProofName[]
const names = all.filter(name => positionals.length === 0 || positionals.includes(name))
const unknown = positionals.filter(name => !all.some(known => known === name))
if (unknown.length > 0) {
  console.error(`There is no proof ${unknown.join(', ')}; there are ${all.join(', ')}.`)
  process.exit(78)
}

/** The script has said why. */
const cannotRunHere = 78
let isInterrupted = false
let running: ReturnType<typeof spawn> | undefined
// On a terminal the command hears Ctrl-C itself.
process.on('SIGINT', () => {
  isInterrupted = true
  if (!process.stdin.isTTY) running?.kill('SIGINT')
})

const began = performance.now()
const failed: string[] = []
let seed = Number(values.seed)
let turn = [...names]
while (!isInterrupted) {
  const name = turn.toSorted((one, other) => shareOf(one, readRuns()) - shareOf(other, readRuns()))[0]
  if (name === undefined) break
  await prove(name)
  const isOver = values.minutes === undefined || performance.now() - began > Number(values.minutes) * 60_000
  turn = turn.filter(other => other !== name)
  if (turn.length === 0 && !isOver) turn = [...names]
  if (isOver && values.minutes !== undefined) break
}
console.log(failed.length === 0 ? 'Every proof ended as it should.' : `Not as they should ended: ${failed.join('; ')}`)
process.exitCode = failed.length === 0 ? 0 : 1

async function prove(name: ProofName): Promise<void> {
  for (const [control, { command }] of Object.entries<{ command: string }>(proofs[name].controls)) {
    const isKnown = readRuns().some(run => run.proof === name && run.control === control && run.violations > 0)
    if (isKnown || isInterrupted) continue
    const code = await codeOf(command)
    if (code === cannotRunHere) return
    if (code !== 1 && !isInterrupted) failed.push(`the control ${command} was not found`)
  }
  if (isInterrupted) return
  const code = await codeOf(proofs[name].again.command)
  if (code !== 0 && code !== cannotRunHere && !isInterrupted) failed.push(proofs[name].again.command)
}

/** Undefined if a signal ended it. */
async function codeOf(command: string): Promise<number | undefined> {
  const [program = '', ...args] = [...command.replace(/^node /, `${process.execPath} `).split(' '), '--seed', String(seed)]
  seed += 1
  console.log(`\n$ ${command} --seed ${seed - 1}`)
  running = spawn(program, args, { cwd: root, stdio: 'inherit' })
  const [code] = await once(running, 'exit')
  running = undefined
  return code ?? undefined
}
