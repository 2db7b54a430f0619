import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Proof, type ProofName, proofs, tested } from './proofs.ts'
import { table } from './tables.ts'

/** One run of a proof, as its script records it: a line of `docs/evidence.jsonl`. */
export interface Run {
  proof: string
  /** When it began; with the seed and the control the name of the run. */
  date: string
  commit: string
  machine: { cores: number; memoryGb: number; fileSystem: string; kernel: string; node: string }
  /** What followed the name of the step. */
  options: string
  seed: number
  /** What was broken on purpose: then violations are what has to be found. */
  control?: string
  rounds: number
  checks: number
  violations: number
  /** What was wrong and is mended since, with the commit that did it: written by hand, and its violations are told apart. */
  mended?: string
  /** What the proof counts besides, by names of its own. */
  counts: Record<string, number>
  seconds: number
}

export const recordPath = 'docs/evidence.jsonl'
/** How much of what it should have the record has of a proof. */
export function shareOf(name: ProofName, runs: readonly Run[]): number {
  const [[what, most] = ['rounds', 1]] = Object.entries<number>(proofs[name].aim)
  const own = runs.filter(({ proof, control }) => proof === name && control === undefined)
  return sum(own, run => (what === 'rounds' ? run.rounds : what === 'checks' ? run.checks : (run.counts[what] ?? 0))) / most
}

const root = join(import.meta.dirname, '..')

/**
 * The last word of each run: while it goes on a script appends a line after every round, with what there is so far. A line
 * that was torn by a kill is left out.
 */
export function readRuns(file = join(root, recordPath)): Run[] {
  // What follows a torn line may stand on the same one.
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split(/\n|(?=\{"proof":)/) : []
  const runs = lines.flatMap(line => runOf(line) ?? [])
  return [...new Map(runs.map(run => [nameOf(run), run])).values()]
}

function runOf(line: string): Run | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The record with one line for each run. */
export function recordText(runs: readonly Run[]): string {
  return runs.map(run => `${JSON.stringify(run)}\n`).join('')
}

function nameOf({ proof, date, seed, control }: Run): string {
  return `${proof} ${date} ${seed} ${control}`
}

export function evidencePage(runs: readonly Run[]): string {
  const names = Object.keys(proofs) as ProofName[]
  const kept = runs.filter(({ control }) => control === undefined)
  const rows = names.map(name => {
    const { title, again, controls } = proofs[name]
    const own = kept.filter(({ proof }) => proof === name)
    return [
      `[${title}](#${sectionOf(title)})`,
      figure(sum(own, ({ rounds }) => rounds)),
      figure(sum(own, ({ checks }) => checks)),
      violationsCell(own),
      controlsCell(
        Object.keys(controls),
        runs.filter(({ proof }) => proof === name)
      ),
      `\`${again.command}\``,
      `${again.minutes} min`
    ]
  })
  return `<!-- Made by \`node build.mjs docs\` from docs/evidence.ts and the record in ${recordPath}. -->

# Evidence

What Afield promises under failures, how each promise was tried, and how often. Every line can be run again by anyone: the command is in the last columns, and takes about the minutes that
stand beside it on two cores. It ends with exit code 0 and “Every promise was kept.”, or names what was broken.

- A **round** is one load with its failures and the judgement after it; each proof below says what it is.
- A **check** is one thing that was promised to a client and compared with what there is.
- A **violation** is a check that failed: something acknowledged was lost, stood elsewhere, or was told differently.
- What was found and **mended** stays in the record: it is counted apart, and named with its commit in the section of its proof.
- A **control** is the same proof of a program that was broken on purpose. It must find violations; a proof that cannot fail shows nothing.

Figures are the sum of all runs in [the record](evidence.jsonl), which has commit, machine, seed and options of each. A run that somebody ended counts as far as it went.

${table(['promise', 'rounds', 'checks', 'violations', 'controls that were found', 'run it again', 'takes'], rows)}
The tests show these in each of their runs:

${table(
  ['promise', 'run it again', 'takes'],
  tested.map(({ title, again: { command, minutes } }) => [`[${title}](#${sectionOf(title)})`, `\`${command}\``, `${minutes} min`])
)}
\`node build.mjs torture\` runs the proofs in turn, beginning with what the record has least of, and each with its controls; \`node build.mjs torture power fuzz --minutes 60\` some of them. Ctrl-C ends
it, and begun again it goes on.

${[
  ...names.map(name =>
    proofSection(
      name,
      runs.filter(({ proof }) => proof === name)
    )
  ),
  ...tested.map(testedSection)
].join('\n')}
## How the record is made

The scripts append to [evidence.jsonl](evidence.jsonl) after each round, so that Ctrl-C or a kill loses at most the round under way; those of wrappers and agents judge a run at its end, which
Ctrl-C brings about after the round under way. They record nothing when files of the repository have been
changed, since nobody could find the program again. \`node build.mjs docs\` then writes this page, and keeps of the record one line for each run. Seeds decide loads and failures, but not the exact moment at which a failure meets a
request: that is left to the machine.
`
}

function proofSection(name: ProofName, runs: readonly Run[]): string {
  const { title, promise, rules, how, round, check, notTried, controls, needs }: Proof = proofs[name]
  const kept = runs.filter(({ control }) => control === undefined)
  const counts = Map.groupBy(
    kept.flatMap(run => Object.entries(run.counts)),
    ([what]) => what
  )
  const counted = [...counts].map(([what, all]) => `${figure(sum(all, ([, number]) => number))} ${what}`)
  const dates = kept.map(({ date }) => date.slice(0, 10)).toSorted()
  const when = dates[0] === dates.at(-1) ? dates[0] : `${dates[0]} to ${dates.at(-1)}`
  const lines = [
    `- **Tried**: ${how}`,
    `- **Round**: ${round}.`,
    `- **Check**: ${check}.`,
    ...Object.values(controls).map(({ breaks, command }) => `- **Control**: ${breaks}: \`${command}\`.`),
    `- **Not tried**: ${notTried}.`,
    ...(needs === undefined ? [] : [`- **Needs**: ${needs}.`]),
    ...mendedLines(kept),
    kept.length === 0
      ? '- **So far**: not run for the record.'
      : `- **So far**: ${[...counted, `${kept.length} runs`, `${hours(sum(kept, ({ seconds }) => seconds))}`, `${when}`].join(', ')}, on ${machines(kept)}.`
  ]
  return `## ${title}\n\n${promise}${rulesText(rules)}\n\n${lines.join('\n')}\n`
}

function testedSection({ title, promise, rules, again }: (typeof tested)[number]): string {
  return `## ${title}\n\n${promise}${rulesText(rules)}\n\n- **Tried**: by tests, in every run of them: \`${again.command}\`.\n`
}

function rulesText(rules: readonly string[]): string {
  return rules.length === 0 ? '' : ` Rules: ${rules.map(rule => `**${rule}**`).join(', ')} of [what Afield promises](behaviour.md).`
}

function mendedLines(runs: readonly Run[]): string[] {
  const found = Map.groupBy(runs, ({ mended }) => mended)
  found.delete(undefined)
  return [...found].map(
    ([what, runs]) => `- **Found and mended**, violations ${figure(sum(runs, ({ violations }) => violations))}: ${what}.`
  )
}

function violationsCell(runs: readonly Run[]): string {
  const [mended, open] = [true, false].map(isMended =>
    sum(
      runs.filter(run => (run.mended !== undefined) === isMended),
      ({ violations }) => violations
    )
  )
  return `${figure(open ?? 0)}${mended ? `; ${figure(mended)} mended` : ''}`
}

function controlsCell(controls: readonly string[], runs: readonly Run[]): string {
  if (controls.length === 0) return 'none'
  const found = controls.filter(name => runs.some(({ control, violations }) => control === name && violations > 0))
  const missed = runs.filter(({ control, violations }) => control !== undefined && violations === 0)
  return `${found.length} of ${controls.length}${missed.length > 0 ? `; not found in ${missed.length} runs` : ''}`
}

function machines(runs: readonly Run[]): string {
  const all = runs.map(
    ({ machine: { cores, memoryGb, fileSystem, kernel, node } }) =>
      `${cores} cores, ${memoryGb} GB, ${fileSystem}, ${kernel}, Node.js ${node}`
  )
  return [...new Set(all)].join('; ')
}

/** As the hosts of repositories name it in addresses. */
function sectionOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

function sum<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0)
}

function figure(number: number): string {
  return number.toLocaleString('en-US')
}

function hours(seconds: number): string {
  return seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`
}
