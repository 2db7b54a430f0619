import { constants } from 'node:os'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { hasNative, type IPty, type IPtyOptions, spawn, Terminal } from 'zigpty'
import { CannotStart } from '../../exit.ts'
import type { Console } from '../terminal/console.ts'
import { followModes } from '../terminal/modes.ts'

/** A program on its own terminal, with keys from us and output to the person's terminal. */
export interface Pty {
  readonly pid: number
  /** Resolves when the program accepts pasted text: anything written earlier may be lost. */
  readonly isReady: Promise<void>
  write(text: string): void
  onOutput(take: (text: string) => void): void
  resize(size: { columns: number; rows: number }): void
  /** How it ended, once all its output was passed on; `signal` is 0 if it ended by itself. */
  readonly ended: Promise<{ code: number; signal: number }>
  /** SIGTERM, and SIGKILL if that has no effect, or if it has written nothing yet. Resolves when it has ended; its last output is not shown. */
  end(): Promise<void>
}

const graceMs = 5_000
const quietMs = 20
/** Its children may continue to write to its terminal. */
const mostLastWordsMs = 1_000
const takesPastes = '\x1b[?2004h'

/** False on a system without a native build: a program would find no terminal there. */
export const hasPty: boolean = hasNative

/** In words for a person, as for a program without a terminal: `exit code 1`, `killed by SIGKILL`. */
export function howEnded({ code, signal }: { code: number; signal: number }): string {
  if (signal === 0) return `exit code ${code}`
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0]
  return `killed by ${name ?? `signal ${signal}`}`
}

/** The program dies with this process: its terminal goes away. Throws CannotStart if it cannot be started. */
export function openPty(
  program: { command: string; args: readonly string[]; directory: string; env: Readonly<Record<string, string>> },
  console: Console
): Pty {
  const { command, args, directory, env } = program
  const { columns, rows } = console
  const options = { cols: columns, rows, cwd: directory, env: { ...env }, name: env['TERM'] ?? 'xterm-256color' }
  const { pty, ended: hasEnded } = start(() => spawnOnPty([command, ...args], options, take))
  const { promise: isReady, resolve: ready } = Promise.withResolvers<void>()
  function take(bytes: Buffer): void {
    hasWritten = true
    if (bytes.includes(takesPastes)) ready()
    modes.take(bytes)
    onOutput(bytes.toString())
    console.write(isEnding ? controlsOf(bytes.toString()) : bytes)
  }
  let isEnding = false
  let hasWritten = false
  let onOutput = (_: string) => {}
  // Also when this process ends without having ended the program.
  const modes = followModes()
  const restore = () => console.write(modes.undo())
  process.once('exit', restore)
  const ended = hasEnded.then(how => {
    process.off('exit', restore)
    restore()
    return how
  })
  return {
    pid: pty.pid,
    isReady,
    write: text => pty.write(text),
    onOutput(take) {
      onOutput = take
    },
    resize: size => pty.resize(size.columns, size.rows),
    ended,
    async end() {
      isEnding = true
      // One without output may not have begun: until then it shares our signal handlers, and we would end with it.
      pty.kill(hasWritten ? 'SIGTERM' : 'SIGKILL')
      const timer = setTimeout(() => pty.kill('SIGKILL'), graceMs)
      await ended
      clearTimeout(timer)
      console.write('\r\n')
    }
  }
}

/** The sequences that restore a terminal, without the text: advice on how to continue what the phone continues. */
export function controlsOf(output: string): string {
  return (output.match(controls) ?? []).join('')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-Z\\^-~])/g

/**
 * A program on its own terminal. The library itself stops reading as soon as the program is gone; here
 * `ended` comes after its last output.
 */
export function spawnOnPty(
  [command = '', ...args]: readonly string[],
  options: IPtyOptions,
  take: (bytes: Buffer) => void
): { pty: IPty; ended: Promise<{ code: number; signal: number }> } {
  let taken = 0
  const terminal = new Terminal({
    data(_, bytes) {
      taken += bytes.length
      take(Buffer.from(bytes))
    }
  })
  let signal = 0
  const pty = spawn(command, args, { ...options, encoding: null, terminal })
  pty.onExit(info => (signal = info.signal))

  /** Nothing marks the end of the output while a child of the program holds its terminal. */
  async function lastWords(): Promise<void> {
    const until = performance.now() + mostLastWordsMs
    for (let before = -1; before !== taken && performance.now() < until; ) {
      before = taken
      await delay(quietMs)
      // A busy process runs its timers before it reads pending input.
      await setImmediate()
    }
    terminal.close()
  }
  return { pty, ended: pty.exited.then(code => lastWords().then(() => ({ code, signal }))) }
}

function start<Started>(run: () => Started): Started {
  try {
    return run()
  } catch (error) {
    throw new CannotStart(`The agent could not be started on a terminal: ${error instanceof Error ? error.message : String(error)}`)
  }
}
