import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NearTest } from '../kit/reach.ts'

export interface Limits {
  /** The most test files for one change. */
  files: number
  /** The most seconds for one change, without those for runs without it. */
  seconds: number
  secondsOfFile: number
}

export interface Trial {
  /** `not reached`: no test that ran calls the changed function. `unfit`: all that ran fail without the change too. */
  verdict: 'killed' | 'survived' | 'not reached' | 'unfit'
  /** The test that noticed the change. */
  by?: string
  /** The test files that ran. */
  ran: string[]
  seconds: number
}

type Test = Pick<NearTest, 'test' | 'opensApp'>

interface Change {
  file: string
  /** The text of the changed file; `code` runs whenever the changed function is called. */
  text(code: string): string
}

interface Run {
  result: 'passed' | 'failed' | 'late'
  seconds: number
  /** The title of the test that failed. */
  title: string
}

/** What the app is bundled from. */
const ofApp = /^(?:web|lib\/(?:client|protocol|crypto|async))\/|^lib\/schema\.ts$/

/** A copy of the tree, in which changes are tried. The tree itself is never changed. */
export class TreeCopy {
  readonly #root: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutate-'))
  readonly #tree = join(this.#folder, 'tree')
  /** A file that exists once the changed function was called. */
  readonly #called = join(this.#folder, 'called')
  readonly #unchanged = new Map<string, Run>()
  #changed: Change | undefined
  #bundled: Change | undefined
  #running: ChildProcess | undefined

  constructor(root: string, files: readonly string[]) {
    this.#root = root
    for (const file of [...files, 'build/web', 'build/app.json']) {
      if (existsSync(join(root, file))) cpSync(join(root, file), join(this.#tree, file), { recursive: true })
    }
    if (existsSync(join(root, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(this.#tree, 'node_modules'))
  }

  /** Runs tests until one notices the change. A test that fails without the change too does not count. */
  async try(change: Change, tests: readonly Test[], limits: Limits): Promise<Trial> {
    rmSync(this.#called, { force: true })
    const ran: Test[] = []
    let seconds = 0
    let unfit = 0
    const ended = (verdict: Trial['verdict'], by?: string): Trial => {
      const found = { verdict, ran: ran.map(({ test }) => test), seconds: Math.round(seconds) }
      return by === undefined ? found : { ...found, by }
    }
    for (const near of tests.slice(0, limits.files)) {
      const left = limits.seconds - seconds
      if (left < 1) break
      const run = await this.#run(near, change, Math.min(limits.secondsOfFile, left))
      ran.push(near)
      seconds += run.seconds
      if (run.result === 'passed') continue
      // The last run of a change has less time than the file may take.
      if (run.result === 'late' && left < limits.secondsOfFile) break
      if (await this.#failsUnchanged(near, run, limits)) unfit += 1
      else return ended('killed', `${near.test}${run.result === 'late' ? ', which did not end' : run.title && `: ${run.title}`}`)
    }
    if (ran.length > 0 && unfit === ran.length) return ended('unfit')
    // Code in a browser cannot tell that it was called.
    const isInBrowser = ofApp.test(change.file) && ran.some(({ opensApp }) => opensApp)
    return ended(existsSync(this.#called) || isInBrowser ? 'survived' : 'not reached')
  }

  /** Ends what runs and removes the copy. */
  close(): void {
    this.#end()
    removeFolder(this.#folder)
  }

  /** Whether a test fails without the change too, or takes nearly as long. */
  async #failsUnchanged(near: Test, run: Run, { secondsOfFile }: Limits): Promise<boolean> {
    const known = this.#unchanged.get(near.test) ?? (await this.#run(near, undefined, secondsOfFile))
    this.#unchanged.set(near.test, known)
    return known.result !== 'passed' || (run.result === 'late' && known.seconds > run.seconds / 2)
  }

  async #run({ test, opensApp }: Test, change: Change | undefined, seconds: number): Promise<Run> {
    this.#write(change)
    const began = performance.now()
    const took = () => (performance.now() - began) / 1000
    if (opensApp) {
      const code = await this.#bundle()
      if (code !== 0) return { result: 'failed', seconds: took(), title: 'the app can be bundled' }
    }
    const { code, said, isLate } = await this.#node([test], seconds)
    const result = code === 0 ? 'passed' : isLate ? 'late' : 'failed'
    return { result, seconds: took(), title: failedTitle(said) }
  }

  #write(change: Change | undefined): void {
    if (this.#changed === change) return
    if (this.#changed) cpSync(join(this.#root, this.#changed.file), join(this.#tree, this.#changed.file))
    const tells = `process?.getBuiltinModule?.('fs').writeFileSync(${JSON.stringify(this.#called)}, '')`
    if (change) writeFileSync(join(this.#tree, change.file), change.text(`globalThis.afieldCalled ??= globalThis.${tells} ?? 1`))
    this.#changed = change
  }

  async #bundle(): Promise<number | null> {
    const wanted = this.#changed && ofApp.test(this.#changed.file) ? this.#changed : undefined
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
        ...{ TAP: '1', TAP_BAIL: '1', TAP_TIMEOUT: String(Math.ceil(seconds)), NODE_OPTIONS: '', TMPDIR: temporary },
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
