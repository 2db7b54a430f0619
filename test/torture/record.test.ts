import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { evidencePage, type Run, readRuns, recordText } from '../../docs/evidence.ts'
import { proofs, tested } from '../../docs/proofs.ts'
import { recordRun } from './record.ts'

const root = join(import.meta.dirname, '../..')
const commit = { name: 'abc' }

t.test('a run counts once, as far as it went, also when a kill tore its last line', async t => {
  const file = join(t.testdir(), 'evidence.jsonl')
  const one = recordRun({ proof: 'instances', seed: 1 }, { commit, file })
  const other = recordRun({ proof: 'instances', seed: 2, control: 'silent-bus' }, { commit, file })
  one.tell({ rounds: 1, checks: 10, violations: 0, counts: { operations: 7 } })
  other.tell({ rounds: 1, checks: 5, violations: 3 })
  one.tell({ rounds: 2, checks: 25, violations: 0, counts: { operations: 20 } })
  const whole = readRuns(file)
  t.match(whole, [
    { seed: 1, commit: 'abc', rounds: 2, checks: 25, counts: { operations: 20 } },
    { seed: 2, control: 'silent-bus', violations: 3 }
  ])
  // The longer one ends with the brace of the machine.
  for (const length of [40, recordText(whole).indexOf('}') + 1]) {
    appendFileSync(file, recordText(whole).slice(0, length))
    t.same(readRuns(file), whole)
  }
  other.tell({ rounds: 2, checks: 9, violations: 4 })
  t.match(
    readRuns(file),
    [
      { seed: 1, checks: 25 },
      { seed: 2, checks: 9 }
    ],
    'what follows a torn line'
  )
  t.equal(recordText(whole).split('\n').length, 3, 'the record is written again with a line for each run')
})

t.test('what has no commit is not recorded, and the reason is said', async t => {
  const file = join(t.testdir(), 'evidence.jsonl')
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  recordRun({ proof: 'instances', seed: 1 }, { commit: { problem: 'files have changed' }, file, say }).tell({
    rounds: 1,
    checks: 1,
    violations: 0
  })
  t.same(said, ['Not recorded: files have changed.'])
  t.notOk(existsSync(file))
})

t.test('the page adds up runs, counts no control among them, and shows a control that was not found', async t => {
  const run: Run = {
    proof: 'instances',
    date: '2026-01-02T03:04:05.000Z',
    commit: 'abc',
    machine: { cores: 2, memoryGb: 4, fileSystem: 'ext4', kernel: 'Linux 6.1', node: '24.0.0' },
    options: '',
    seed: 1,
    rounds: 1,
    checks: 1_000,
    violations: 0,
    counts: {},
    seconds: 60
  }
  const rowOf = (...runs: Run[]) => /^\| \[Several instances\].*$/m.exec(evidencePage(runs))?.[0]
  const controls = Object.keys(proofs.instances.controls).length
  const found = { ...run, control: 'silent-bus', violations: 3 }
  t.match(rowOf(run, { ...run, seed: 2, violations: 1 }, found), `| 2 | 2,000 | 1 | 1 of ${controls} |`)
  const mended = { ...run, seed: 2, violations: 4, mended: 'what was wrong (abc)' }
  t.match(rowOf(run, mended), '| 2 | 2,000 | 0; 4 mended |')
  t.match(evidencePage([mended, { ...mended, seed: 3 }]), /^- \*\*Found and mended\*\*, violations 8: what was wrong \(abc\)\.$/m)
  t.match(rowOf(run, found, { ...run, control: 'seq-outside' }), `| 1 of ${controls}; not found in 1 runs |`)
})

t.test('every command of the page is a step of build.mjs, and its control one that the script knows', async t => {
  const build = readFileSync(join(root, 'build.mjs'), 'utf8')
  const steps = /^const steps = \{(.*?)^\}/ms.exec(build)?.[1] ?? ''
  for (const [name, { again, controls }] of Object.entries(proofs)) {
    for (const command of [again.command, ...Object.values(controls).map(({ command }) => command)]) {
      const [, step = ''] = /^node build\.mjs (\w+)( |$)/.exec(command) ?? []
      t.match(steps, new RegExp(`\\b${step}\\b`), command)
      const [, script = ''] = new RegExp(`function ${step}\\(.*?run\\(at\\('(.*?)'\\)`, 's').exec(build) ?? []
      const text = readFileSync(join(root, script), 'utf8')
      t.match(text, `recordRun({ proof: '${name}'`, `${script} records ${name}`)
      for (const [, option = ''] of command.matchAll(/ --(\w+)/g))
        t.match(text, new RegExp(`^ +${option}: \\{ type`, 'm'), `${script} --${option}`)
    }
    for (const [control, { command }] of Object.entries(controls)) t.match(command, new RegExp(` --control( ${control})?$`))
    t.ok(again.minutes < 10, `${name} is run again in under ten minutes`)
  }
  for (const { again } of tested) {
    const [files = '', ...others] = again.command.split('node build.mjs test ').toReversed()
    t.same(others, [''])
    for (const file of files.split(' ')) t.ok(existsSync(join(root, file)), file)
    t.ok(again.minutes < 10)
  }
})

t.test('every claim of the README links to its proof', async t => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const claims = [
    /^Afield keeps your[\s\S]*?\n\n/m.exec(readme)?.[0] ?? '',
    ...(readme.split(/^## /m).find(part => part.startsWith('What you get')) ?? '').split(/^- /m).slice(1)
  ]
  t.ok(claims.length > 5, `${claims.length} claims`)
  // That the sections exist is checked with all other links.
  for (const claim of claims) t.match(claim, /\]\(docs\/evidence\.md#[\w-]+\)/, claim.slice(0, 40))
})
