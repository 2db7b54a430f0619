import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import Reporter from './reporter.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { jobs, timeout: usualTimeout, 'node-arg': nodeArgs } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).tap
/** In seconds; a real agent takes its time. */
const timeoutOf = file => Number(process.env.TAP_TIMEOUT ?? (isLong(file) ? 900 : usualTimeout))
const mostTriedAgain = 8
const running = new Set()

/**
 * Files run in parallel, and on a small machine one can starve another. A failed file is reported and rerun
 * alone; one that fails again has failed. `long` run afterwards, one at a time. Resolves to the exit code.
 */
export async function runTests(files, long = []) {
  passSignals()
  const mustRun = await whatMustRun()
  const first = await runAll(files, jobs, mustRun)
  const last = await runAll(long, 1, mustRun)
  const { failedFiles } = first
  const isTriedAgain = failedFiles.length > 0 && files.length > 1 && failedFiles.length <= mostTriedAgain
  if (isTriedAgain) process.stdout.write(`\nFailed beside others, tried again alone: ${failedFiles.join(', ')}\n`)
  const alone = await runAll(isTriedAgain ? failedFiles : [], 1, mustRun)
  const flaky = isTriedAgain ? failedFiles.filter(file => !alone.failedFiles.includes(file)) : []
  if (flaky.length > 0) process.stdout.write(describeFlaky(first.failures.filter(({ file }) => flaky.includes(file))))
  // What failed beside others counts as what it was alone.
  const { passed, failed, skipped } = sum([
    isTriedAgain ? { ...first.ofPassedFiles, failed: first.skippedWrongly } : first.all,
    last.all,
    alone.all
  ])
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  return failed > 0 ? 1 : 0
}

function sum(counts) {
  const of = kind => counts.reduce((all, count) => all + count[kind], 0)
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') }
}

function describeFlaky(failures) {
  const lines = failures.map(({ file, title, line }) => `  ${file} > ${title}${line === '' ? '' : `: ${line}`}`)
  return `\nFailed beside others and passed alone, so the test or what it tests depends on time or load:\n${lines.join('\n')}\n`
}

/** In CI a skip fails the run unless `maySkip` lists its reason. */
async function whatMustRun() {
  if (process.env.AFIELD_TEST_ALL === undefined) return () => false
  const { maySkip } = await import('./needs.ts')
  return reason => !maySkip.some(([known]) => known.test(reason))
}

/**
 * Each in its own process, as with `node file`: the runner of tap puts its loaders into that process and into all
 * that it starts, which takes longer than most of our tests.
 */
async function runAll(files, jobs, mustRun) {
  const reporter = new Reporter({ mustRun, isPart: true })
  reporter.pipe(process.stdout, { end: false })
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) reporter.write(await runFile(file))
  }
  await Promise.all(Array.from({ length: jobs }, work))
  reporter.end()
  await finished(reporter)
  const { failedFiles, failures, skippedWrongly, passed, skipped } = reporter.ended
  const all = { passed: reporter.passed, failed: reporter.failed + skippedWrongly, skipped: reporter.skipped }
  return { failedFiles, failures, skippedWrongly, ofPassedFiles: { passed, skipped }, all }
}

/** Resolves to its output, as the subtest of a run. */
async function runFile(file) {
  const began = performance.now()
  const timeout = timeoutOf(file)
  const child = spawn(process.execPath, [...nodeArgs, file], {
    cwd: root,
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(timeout) },
    stdio: ['ignore', 'pipe', 'inherit'],
    // It ends on its own at the time limit, unless it hangs.
    timeout: (timeout + 10) * 1000,
    killSignal: 'SIGKILL'
  })
  running.add(child)
  const closed = new Promise(resolve => child.once('close', (code, signal) => resolve(code ?? signal)))
  const said = Buffer.concat(await child.stdout.toArray()).toString()
  const how = await closed
  const isOk = how === 0 && /^1\.\.\d/m.test(said)
  running.delete(child)
  const lines = said.trimEnd().split('\n')
  const name = file.split(sep).join('/')
  const point = isOk ? `ok 1 - ${name}` : `not ok 1 - ${name}, which ended with ${how}`
  return `# Subtest: ${name}\n${lines.map(line => `    ${line}\n`).join('')}${point} # time=${performance.now() - began}ms\n`
}

/** Ending the run ends its processes. */
function passSignals() {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.once(signal, () => {
      for (const child of running) child.kill(signal)
      process.exit(1)
    })
  }
}

/** Journeys take half a minute each, so a run has the most important ones, or the first and others picked by a seed. */
export function filesOfARun() {
  const all = filesIn('test').filter(file => !isLong(file))
  const isJourney = file => file.startsWith(join('test', 'journeys'))
  const seed = process.env.AFIELD_SEED
  const rank = file => usualJourneys.indexOf(file.split(sep).at(-1)) + 1 || usualJourneys.length + 1
  const order = file => createHash('sha256').update(`${seed} ${file}`).digest('hex')
  const [first, ...others] = all.filter(isJourney).sort((a, b) => rank(a) - rank(b))
  if (seed !== undefined) others.sort((a, b) => order(a).localeCompare(order(b)))
  const sample = [first, ...others.slice(0, usualJourneys.length - 1)]
  process.stdout.write(`Journeys of this run: ${sample.map(file => file.split(sep).at(-1)).join(', ')}\n`)
  return longFirst([...all.filter(file => !isJourney(file)), ...sample])
}

/** Files that take long, or need a minute of the machine for themselves: `.ci/run` and `npm test -- --long` run them after the others. */
export const longFiles = () => filesIn('test').filter(file => isLong(file) && !byHand.includes(file.split(sep).join('/')))

/** Each of its starts of opencode takes about a minute on a slow machine, so CI has the shorter file about opencode only. */
const byHand = ['test/real/opencode.test.ts']

const isLong = file => long.some(path => file.split(sep).join('/').startsWith(`test/${path}`))

const long = [
  'real/',
  'binary.test.ts',
  'interop/happy-cli.test.ts',
  'journeys/happy-resume.test.ts',
  'crash/power.test.ts',
  'package.test.ts',
  'instances/instances.test.ts',
  'web/presses/'
]

/**
 * The files of a run that can reach changes since a revision; prints which and why. By default: since this branch
 * left `main`, including uncommitted changes.
 */
export async function filesOfAChange(base = 'main') {
  const { selectTests } = await import('./reach.ts')
  const files = git('ls-files', '--cached', '--others', '--exclude-standard').filter(file => existsSync(join(root, file)))
  const [since] = git('merge-base', base, 'HEAD')
  const changed = [...git('diff', '--name-only', '--no-renames', since), ...git('ls-files', '--others', '--exclude-standard')]
  if (changed.length === 0) process.stdout.write(`Nothing has changed since ${since.slice(0, 8)}.\n`)
  const read = file => readFileSync(join(root, file), 'utf8')
  const changedTests = changed.filter(file => file.endsWith('.test.ts') && files.includes(file)).map(file => file.split('/').join(sep))
  const tests = [...new Set([...filesOfARun(), ...changedTests])].map(file => file.split(sep).join('/'))
  // Another change uses another sample.
  const seed = process.env.AFIELD_SEED ?? changed.join()
  const order = file => createHash('sha256').update(`${seed} ${file}`).digest('hex')
  const selection = selectTests(changed, { files, tests, read, order })
  process.stdout.write(describeSelection(selection, { changed, since, tests }))
  return longFirst([...selection.runs.keys()].map(file => file.split('/').join(sep)))
}

function describeSelection({ everythingFor, runs, left, untested }, { changed, since, tests }) {
  if (everythingFor) return `All ${tests.length} test files have to run: everything depends on ${everythingFor}, which has changed.\n`
  const byReason = Map.groupBy(runs.keys(), test => runs.get(test))
  const lines = [`${changed.length} files changed since ${since.slice(0, 8)}; ${runs.size} of ${tests.length} test files run:`]
  for (const [reason, files] of byReason) lines.push(`  ${reason}: ${files.join(', ')}`)
  if (left.length > 0) lines.push(`${left.length} others start a program with what changed in it; npm run check and CI run these.`)
  if (untested.length > 0) lines.push(`No test reaches ${untested.join(', ')}.`)
  return `${lines.join('\n')}\n`
}

function git(...args) {
  const text = execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return text.split('\n').filter(line => line !== '')
}

// Sign-in, an agent at work, answers to it, all of that over a bad connection, and behind a proxy.
const usualJourneys = ['first-slice.test.ts', 'offline.test.ts', 'nginx.test.ts']

// A long file that starts last would run alone at the end. Some of these are files beside the folders.
const longFolders = [
  ...['journeys', 'kills', 'upgrade', 'backup', 'postgres', 'redis', 'wrapper', 'web'],
  ...['crash', 'instances', 'endurance', 'doctor', 'interop', 'mutation', 'link-down', 'storm', 'fuzz'],
  ...['client', 'sqlite', 'server', 'bin']
]

function longFirst(files) {
  const rank = file => {
    const at = longFolders.indexOf(file.split(sep)[1])
    return at < 0 ? longFolders.length : at
  }
  return files.toSorted((a, b) => rank(a) - rank(b))
}

export function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => join(folder, file))
    .sort()
}
