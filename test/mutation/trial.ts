import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { NearTest } from '../kit/reach.ts'
import { type Change, keyOf, Notes, type Place } from './notes.ts'

export interface Limits {
  /** A change survives when so many test files that reach it have passed. */
  files: number
  /** The most seconds for one change, without those for runs without it. */
  seconds: number
  secondsOfFile: number
}

export interface Trial {
  /**
   * `survived`: tests that reach the place passed. `not reached`: none does. `limit met`: the time was over before one of these
   * was known. `unfit`: all that ran fail without the change too.
   */
  verdict: 'killed' | 'survived' | 'not reached' | 'limit met' | 'unfit'
  /** The test that noticed the change. */
  by?: string
  /** The test files that ran. */
  ran: string[]
  /** Those of them that reach the place and passed. */
  reached: string[]
  seconds: number
}

type Test = Pick<NearTest, 'test' | 'opensApp' | 'opensBrowser'>

/** What is known of a test. */
export interface Known {
  /** The places that it reaches, by their keys. */
  places: ReadonlySet<string>
  /** The files of which it reaches no other places. */
  whole: ReadonlySet<string>
  seconds: number
}

interface Run {
  result: 'passed' | 'failed' | 'late'
  seconds: number
  reached: ReadonlySet<string>
  /** Whether the changed place was reached. */
  isReached: boolean
  /** The title of the test that failed. */
  title: string
}

/** What the app is bundled from. */
const ofApp = /^(?:web|lib\/(?:client|protocol|crypto|async))\/|^lib\/schema\.ts$/

/**
 * A copy of the tree, in which changes are tried. The tree itself is never changed. The copy notes which of the places a
 * test reaches, whatever it runs for: what a run for one change shows about the others decides which tests they begin with.
 */
export class TreeCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutate-'))
  readonly #tree = join(this.#folder, 'tree')
  readonly #notes: Notes
  readonly #noted = join(this.#folder, 'reached')
  /** With these a run of the tests starts each of them, so that it ends here as it does there. */
  readonly #nodeArgs: readonly string[]
  /** The texts of the files with the places, as they were. */
  readonly #texts: ReadonlyMap<string, string>
  readonly #known: Map<string, Known>
  /** How a test ends here without a change that it notices. */
  readonly #usual = new Map<string, Run>()
  #changed: Change | undefined
  #bundled: Change | 'unchanged' | undefined
  #running: ChildProcess | undefined

  constructor(root: string, files: readonly string[], places: readonly Place[], known: ReadonlyMap<string, Known> = new Map()) {
    letOthersIn(this.#folder)
    mkdirSync(this.#noted)
    this.#notes = new Notes(this.#noted, places)
    this.#known = new Map(known)
    for (const file of [...files, 'build/web', 'build/app.json']) {
      if (existsSync(join(root, file))) cpSync(join(root, file), join(this.#tree, file), { recursive: true })
    }
    if (existsSync(join(root, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(this.#tree, 'node_modules'))
    const description = join(root, 'package.json')
    this.#nodeArgs = existsSync(description) ? JSON.parse(readFileSync(description, 'utf8')).tap['node-arg'] : []
    this.#texts = new Map(places.map(({ file }) => [file, readFileSync(join(this.#tree, file), 'utf8')]))
    for (const file of this.#texts.keys()) this.#write(file)
  }

  /**
   * Runs tests until one notices the change. One that fails without the change too does not count, nor one that fails
   * without reaching the place.
   */
  async try(change: Change, tests: readonly Test[], limits: Limits): Promise<Trial> {
    const found = { ran: [] as string[], reached: [] as string[], seconds: 0 }
    const ended = (verdict: Trial['verdict']): Trial => ({ verdict, ...found, seconds: Math.round(found.seconds) })
    let unfit = 0
    for (const near of this.#inOrder(tests, change)) {
      if (found.reached.length >= limits.files) break
      const left = limits.seconds - found.seconds
      if (left < 1) return ended('limit met')
      const most = this.#mostSecondsOf(near, limits)
      const run = await this.#run(near, change, Math.min(most, left))
      found.ran.push(near.test)
      found.seconds += run.seconds
      if (run.result === 'passed' && run.isReached) found.reached.push(near.test)
      if (run.result === 'passed') continue
      // The last run of a change has less time than the file may take.
      if (run.result === 'late' && left < most) return ended('limit met')
      const isKill = run.isReached && !(await this.#failsUnchanged(near, run, limits))
      if (isKill)
        return { ...ended('killed'), by: `${near.test}${run.result === 'late' ? ', which did not end' : run.title && `: ${run.title}`}` }
      unfit += 1
    }
    if (found.ran.length > 0 && unfit === found.ran.length) return ended('unfit')
    return ended(found.reached.length > 0 ? 'survived' : 'not reached')
  }

  /** Runs a test without a change, to know it. `undefined`: it fails here. */
  async look(near: Test, seconds: number): Promise<Known | undefined> {
    const run = await this.#run(near, undefined, seconds)
    return run.result === 'passed' ? this.#known.get(near.test) : undefined
  }

  /** Ends what runs and removes the copy. */
  close(): void {
    this.#end()
    removeFolder(this.#folder)
  }

  /** Those known to reach the place are tried first, and short ones sooner than their order says; those known not to are left out. */
  #inOrder(tests: readonly Test[], change: Change): Test[] {
    const key = keyOf(change)
    return tests
      .map((near, order) => ({ near, order, known: this.#known.get(near.test) }))
      .map(({ near, order, known }) => ({
        near,
        isReached: known?.places.has(key) === true,
        isUnknown: !known?.whole.has(change.file),
        cost: (order + 3) * (2 + (known?.seconds ?? 8))
      }))
      .filter(({ isReached, isUnknown }) => isReached || isUnknown)
      .toSorted((a, b) => Number(b.isReached) - Number(a.isReached) || a.cost - b.cost)
      .map(({ near }) => near)
  }

  #mostSecondsOf({ test }: Test, { secondsOfFile }: Limits): number {
    const usual = this.#known.get(test)?.seconds
    return usual === undefined ? secondsOfFile : Math.min(secondsOfFile, 10 + usual * 3)
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
    // What cannot even be bundled reaches nothing.
    if (opensApp && (await this.#bundle()) !== 0)
      return { result: 'failed', seconds: took(), reached: new Set(), isReached: true, title: 'the app can be bundled' }
    this.#notes.forget()
    const hears = opensBrowser ? ['--import=./test/mutation/note-pages.mjs'] : []
    const { code, said, isLate } = await this.#node([...this.#nodeArgs, ...hears, test], seconds)
    // A test that keeps its program from exiting ends with 0 then too.
    const isPassed = code === 0 && !/^Bail out!/m.test(said)
    const result = isPassed ? 'passed' : isLate ? 'late' : 'failed'
    const reached = this.#notes.noted()
    const isReached = change !== undefined && reached.has(keyOf(change))
    const run: Run = { result, seconds: took(), reached, isReached, title: failedTitle(said) }
    this.#learn(test, run)
    if (change === undefined || result === 'passed') this.#usual.set(test, run)
    return run
  }

  #learn(test: string, { result, reached, isReached, seconds }: Run): void {
    const before = this.#known.get(test)
    // With a change, a place that it reaches may not lead to what it should.
    const isWhole = result === 'passed' && !isReached
    this.#known.set(test, {
      places: reached.union(before?.places ?? new Set()),
      whole: isWhole ? new Set(this.#texts.keys()).union(before?.whole ?? new Set()) : (before?.whole ?? new Set()),
      seconds: before?.seconds ?? seconds
    })
  }

  #apply(change: Change | undefined): void {
    if (this.#changed === change) return
    if (this.#changed) this.#write(this.#changed.file)
    if (change) this.#write(change.file, change)
    this.#changed = change
  }

  #write(file: string, change?: Change): void {
    writeFileSync(join(this.#tree, file), this.#notes.textWith(file, this.#texts.get(file) ?? '', change))
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
    letOthersIn(temporary)
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
          // Of a variable that begins with AFIELD the program says that it has no effect.
          REACHED_FOLDER: this.#noted
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
      const isSaid = new Promise(resolve => child.stdout.once('end', resolve))
      const code = await closed
      // A program that it started may keep the other end open.
      await Promise.race([isSaid, pause(restMs)])
      return { code, said: Buffer.concat(said).toString(), isLate }
    } finally {
      clearTimeout(timer)
      this.#end()
      // What has the other end may live in a group of its own.
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

/** How long what a test said last may take, in milliseconds. */
const restMs = 200

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

/** Some tests run as another user, who has to find the tree and what the test made. */
function letOthersIn(folder: string): void {
  chmodSync(folder, 0o711)
}
