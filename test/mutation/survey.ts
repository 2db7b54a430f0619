import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { likelyTests } from './likely-tests.ts'
import { lookAtTests } from './reached.ts'
import { allParts, draw, type Part, partOf, type Sampled } from './sample.ts'
import { type Limits, TreeCopy, type Trial } from './trial.ts'

interface Survey {
  root: string
  seed: number
  count: number
  parts?: readonly Part[]
  /** Draws from these files only. */
  only?: (file: string) => boolean
  /** Results are added to this file; those that it has for the seed are not tried again. */
  out?: string | undefined
  /** Which tests reach which places is kept in this file, and looked at first. */
  reached?: string | undefined
  limits: Limits
  show(line: string): void
}

/** What a line of `out` has. */
type Result = Drawn & Trial & { seed: number }
type Drawn = Omit<Sampled, 'edit' | 'reaching'>

/** Tries a sample of changes to the sources, each against the tests that most likely notice it, and shows what came of each. */
export async function survey({
  root,
  seed,
  count,
  parts = allParts,
  only = () => true,
  out,
  reached,
  limits,
  show
}: Survey): Promise<Result[]> {
  const files = filesOf(root)
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const texts = new Map(files.filter(file => partOf(file) !== undefined && only(file)).map(file => [file, read(file)]))
  const changes = draw(texts, { seed, count, parts })
  const known = out === undefined ? [] : resultsIn(out, seed)
  const resultOf = (change: Sampled) => known.find(({ part, number }) => part === change.part && number === change.number)
  const isOther = (change: Sampled) => placeOf(resultOf(change) ?? change) !== placeOf(change)
  if (changes.some(isOther)) throw new Error(`The sources have changed since ${out} was begun.`)
  const waiting = changes.filter(change => resultOf(change) === undefined)
  const results = changes.map(resultOf).filter(result => result !== undefined)
  if (waiting.length > 0) results.push(...(await tryAll(waiting)))
  for (const part of parts) show(summaryOf(part, results))
  return results

  async function tryAll(waiting: readonly Sampled[]): Promise<Result[]> {
    const tests = files.filter(isTest)
    const likely = likelyTests({ files, tests, read })
    const known = reached === undefined ? undefined : await lookAtTests({ root, files, tests, read, texts, kept: reached, show })
    const copy = new TreeCopy(root, files, waiting, known)
    const stop = endingOn(copy)
    const began = performance.now()
    const tried: Result[] = []
    try {
      for (const change of waiting) {
        const result = { ...withoutEdits(change), seed, ...(await copy.try(change, likely(change), limits)) }
        tried.push(result)
        if (out !== undefined) appendFileSync(out, `${JSON.stringify(result)}\n`)
        const left = ((performance.now() - began) / tried.length) * (waiting.length - tried.length)
        const at = `${changes.length - waiting.length + tried.length}/${changes.length}`
        show(`${at} ${describe(result)}; ${left > 0 ? `about ${Math.ceil(left / 60_000)} min left` : 'done'}`)
      }
    } finally {
      stop()
      copy.close()
    }
    return tried
  }
}

export function summaryOf(part: Part, results: readonly Result[]): string {
  const own = results.filter(result => result.part === part)
  const many = (verdict: Trial['verdict']) => own.filter(result => result.verdict === verdict).length
  const judged = own.length - many('unfit')
  const percent = judged > 0 ? ` (${Math.round((100 * many('killed')) / judged)} %)` : ''
  return `${part}: ${many('killed')} of ${judged} killed${percent}, ${many('survived')} survived, ${many('not reached')} not reached, ${many('limit met')} met the limit${
    many('unfit') > 0 ? `, ${many('unfit')} without a test that passes here` : ''
  }`
}

function describe(result: Result): string {
  const files = result.ran.length === 1 ? '1 test file' : `${result.ran.length} test files`
  const how = result.by === undefined ? `ran ${files}, of which ${result.reached.length} reach it and passed,` : `killed by ${result.by}`
  const lines = (text: string, sign: string) => text.split('\n').map(line => `  ${sign} ${line.trim()}`)
  return [
    `${result.verdict}: ${result.file}:${result.line} ${result.function}, ${result.kind}`,
    ...lines(result.before, '-').slice(0, 6),
    ...lines(result.after, '+').slice(0, 6),
    `  ${how} in ${result.seconds} s`
  ].join('\n')
}

function placeOf({ file, line, kind, after }: Drawn): string {
  return JSON.stringify([file, line, kind, after])
}

function withoutEdits({ edit: _, reaching: __, ...rest }: Sampled): Drawn {
  return rest
}

function resultsIn(out: string, seed: number): Result[] {
  if (!existsSync(out)) return []
  const lines = readFileSync(out, 'utf8').split('\n')
  return lines
    .filter(line => line !== '')
    .map((line): Result => JSON.parse(line))
    .filter(result => result.seed === seed)
}

function filesOf(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  return listed.split('\n').filter(file => file !== '' && existsSync(join(root, file)))
}

/**
 * Not the tests of the sampler itself, which would sample in turn, those of the kit, those that take long, and those that look
 * at every screen for its colors and sizes.
 */
function isTest(file: string): boolean {
  const others =
    /^test\/(?:(?:mutation|kit|real|storm|torture)\/|(?:binary|package)\.|web\/(?:axe|budgets|contrast|low-vision|right-to-left|touch-targets)\.)/
  return file.endsWith('.test.ts') && !others.test(file)
}

/** Ctrl-C leaves nothing behind. */
function endingOn(copy: TreeCopy): () => void {
  const end = () => {
    copy.close()
    process.exit(130)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, end)
  return () => {
    for (const signal of signals) process.removeListener(signal, end)
  }
}
