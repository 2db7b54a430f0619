import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NearTest } from '../kit/reach.ts'
import { Calls, type Watched } from './calls.ts'
import { apply, type Edit } from './mutations.ts'

export interface Limits {
  /** A change survives when so many test files that call the function have passed. */
  files: number
  /** The most seconds for one change, without those for runs without it. */
  seconds: number
  secondsOfFile: number
}

export interface Trial {
  /**
   * `survived`: tests that call the function passed. `not reached`: no test calls it. `limit met`: the time was over before one
   * of these was known. `unfit`: all that ran fail without the change too.
   */
  verdict: 'killed' | 'survived' | 'not reached' | 'limit met' | 'unfit'
  /** The test that noticed the change. */
  by?: string
  /** The test files that ran. */
  ran: string[]
  /** Those of them that call the function and passed. */
  reached: string[]
  seconds: number
}

type Test = Pick<NearTest, 'test' | 'opensApp' | 'opensBrowser'>

/** A change of a function. */
interface Change extends Watched {
  edit: Edit
}

interface Run {
  result: 'passed' | 'failed' | 'late'
  seconds: number
  /** Whether the changed function was called. */
  isCalled: boolean
  /** The title of the test that failed. */
  title: string
}

/** What the app is bundled from. */
const ofApp = /^(?:web|lib\/(?:client|protocol|crypto|async))\/|^lib\/schema\.ts$/

/**
 * A copy of the tree, in which changes are tried. The tree itself is never changed. The copy notes which of the functions a
 * test calls, whatever it runs for: what a run for one change shows about the others decides which tests they begin with.
 */
export class TreeCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutate-'))
  readonly #tree = join(this.#folder, 'tree')
  readonly #calls: Calls
  readonly #notes = join(this.#folder, 'called')
  /** The texts of the files with the functions, as they were. */
  readonly #texts: ReadonlyMap<string, string>
  /** The functions that a test is known to call, and whether it calls no others. */
  readonly #called = new Map<string, { numbers: ReadonlySet<number>; areAll: boolean }>()
  /** How a test ends here without a change that it notices. */
  readonly #usual = new Map<string, Run>()
  #changed: Change | undefined
  #bundled: Change | 'unchanged' | undefined
  #running: ChildProcess | undefined

  constructor(root: string, files: readonly string[], watched: readonly Watched[]) {
    mkdirSync(this.#notes)
    this.#calls = new Calls(this.#notes, watched)
    for (const file of [...files, 'build/web', 'build/app.json']) {
      if (existsSync(join(root, file))) cpSync(join(root, file), join(this.#tree, file), { recursive: true })
    }
    if (existsSync(join(root, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(this.#tree, 'node_modules'))
    this.#texts = new Map(watched.map(({ file }) => [file, readFileSync(join(this.#tree, file), 'utf8')]))
    for (const file of this.#texts.keys()) this.#write(file)
  }

  /**
   * Runs tests until one notices the change. One that fails without the change too does not count, nor one that fails
   * without calling the function.
   */
  async try(change: Change, tests: readonly Test[], limits: Limits): Promise<Trial> {
    const found = { ran: [] as string[], reached: [] as string[], seconds: 0 }
    const ended = (verdict: Trial['verdict']): Trial => ({ verdict, ...found, seconds: Math.round(found.seconds) })
    let unfit = 0
    for (const near of this.#inOrder(tests, change)) {
      if (found.reached.length >= limits.files) break
      const left = limits.seconds - found.seconds
      if (left < 1) return ended('limit met')
      const run = await this.#run(near, change, Math.min(limits.secondsOfFile, left))
      found.ran.push(near.test)
      found.seconds += run.seconds
      if (run.result === 'passed' && run.isCalled) found.reached.push(near.test)
      if (run.result === 'passed') continue
      // The last run of a change has less time than the file may take.
      if (run.result === 'late' && left < limits.secondsOfFile) return ended('limit met')
      const isKill = run.isCalled && !(await this.#failsUnchanged(near, run, limits))
      if (isKill)
        return { ...ended('killed'), by: `${near.test}${run.result === 'late' ? ', which did not end' : run.title && `: ${run.title}`}` }
      unfit += 1
    }
    if (found.ran.length > 0 && unfit === found.ran.length) return ended('unfit')
    return ended(found.reached.length > 0 ? 'survived' : 'not reached')
  }

  /** Ends what runs and removes the copy. */
  close(): void {
    this.#end()
    removeFolder(this.#folder)
  }

  /** Those known to call the function are tried sooner than their place says, and those known not to are left out. */
  #inOrder(tests: readonly Test[], change: Change): Test[] {
    const number = this.#calls.numberOf(change)
    return tests
      .map((near, place) => ({ near, place, called: this.#called.get(near.test) }))
      .filter(({ called }) => !called?.areAll || called.numbers.has(number))
      .map(({ near, place, called }) => ({ near, place: called?.numbers.has(number) ? place / 3 : place }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ near }) => near)
  }

  /** Whether a test fails without the change too, or takes nearly as long. */
  async #failsUnchanged(near: Test, run: Run, { secondsOfFile }: Limits): Promise<boolean> {
    const usual = this.#usual.get(near.test) ?? (await this.#run(near, undefined, secondsOfFile))
    return usual.result !== 'passed' || (run.result === 'late' && usual.seconds > run.seconds / 2)
  }

  async #run({ test, opensApp, opensBrowser }: Test, change: Change | undefined, seconds: number): Promise<Run> {
    this.#apply(change)
    const began = performance.now()
    const took = () => (performance.now() - began) / 1000
    // What cannot even be bundled calls nothing.
    if (opensApp && (await this.#bundle()) !== 0)
      return { result: 'failed', seconds: took(), isCalled: true, title: 'the app can be bundled' }
    this.#calls.forget()
    const hears = opensBrowser ? ['--import=./test/mutation/note-calls.mjs'] : []
    const { code, said, isLate } = await this.#node([...hears, test], seconds)
    const result = code === 0 ? 'passed' : isLate ? 'late' : 'failed'
    const noted = this.#calls.noted()
    const isCalled = change !== undefined && noted.has(this.#calls.numberOf(change))
    const run: Run = { result, seconds: took(), isCalled, title: failedTitle(said) }
    const before = this.#called.get(test)
    // A changed function may not call what it should.
    const areAll = before?.areAll === true || (result === 'passed' && !isCalled)
    this.#called.set(test, { numbers: noted.union(before?.numbers ?? new Set()), areAll })
    if (change === undefined || result === 'passed') this.#usual.set(test, run)
    return run
  }

  #apply(change: Change | undefined): void {
    if (this.#changed === change) return
    if (this.#changed) this.#write(this.#changed.file)
    if (change) this.#write(change.file, change)
    this.#changed = change
  }

  /** Writes a file with its notes. A change can remove functions inside it, with their notes. */
  #write(file: string, change?: Change): void {
    const isRemoved = (notes: Edit[]) =>
      change !== undefined &&
      notes[0]?.from !== change.calling('')[0]?.from &&
      notes.every(({ from }) => from >= change.edit.from && from <= change.edit.to)
    const notes = this.#calls.notesIn(file).filter(each => !isRemoved(each))
    const edits = [...notes.flat(), ...(change ? [change.edit] : [])]
    writeFileSync(join(this.#tree, file), apply(this.#texts.get(file) ?? '', edits))
  }

  async #bundle(): Promise<number | null> {
    const wanted = this.#changed && ofApp.test(this.#changed.file) ? this.#changed : 'unchanged'
    if (this.#bundled === wanted) return 0
    const { code } = await this.#node(['build.mjs', 'web'], 120)
    if (code === 0) this.#bundled = wanted
    return code
  }

  /** Each run has a process group and a temporary folder of its own; what it leaves is ended and removed. */
  async #node(args: readonly string[], seconds: number): Promise<{ code: number | null; said: string; isLate: boolean }> {
    const temporary = mkdtempSync(join(this.#folder, 't'))
    const child = spawn(process.execPath, args, {
      cwd: this.#tree,
      env: {
        ...process.env,
        ...{
          TAP: '1',
          TAP_BAIL: '1',
          TAP_TIMEOUT: String(Math.ceil(seconds)),
          NODE_OPTIONS: '',
          TMPDIR: temporary,
          AFIELD_CALLS: this.#notes
        },
        NODE_COMPILE_CACHE: join(this.#folder, 'compiled')
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: process.platform !== 'win32'
    })
    this.#running = child
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#end()
    }, seconds * 1000)
    try {
      const closed = new Promise<number | null>(resolve => child.once('exit', resolve))
      const said: Buffer[] = []
      child.stdout.on('data', (data: Buffer) => said.push(data))
      return { code: await closed, said: Buffer.concat(said).toString(), isLate }
    } finally {
      clearTimeout(timer)
      this.#end()
      // A program that it started may have the other end, and live in a group of its own.
      child.stdout.destroy()
      removeFolder(temporary)
    }
  }

  #end(): void {
    const child = this.#running
    this.#running = undefined
    if (child?.pid === undefined) return
    try {
      if (process.platform === 'win32') child.kill('SIGKILL')
      else process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Everything of it has ended.
    }
  }
}

/** What has just been killed may still have written into it. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    console.error(`${folder} could not be removed: ${error}`)
  }
}

/** The title of the test around the first failed assertion. */
function failedTitle(said: string): string {
  const [before = ''] = said.split(/^ *not ok /m, 1)
  return [...before.matchAll(/^# Subtest: (.*)$/gm)].at(-1)?.[1] ?? ''
}
