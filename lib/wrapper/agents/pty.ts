import { type IPty, spawn } from 'zigpty'
import { CannotStart } from '../../exit.ts'
import type { Console } from '../terminal/console.ts'

/** A program on a terminal of its own, whose keys come from us and whose output goes to the person's terminal. */
export interface Pty {
  write(text: string): void
  resize(size: { columns: number; rows: number }): void
  /** The exit code, once everything it wrote was passed on. */
  readonly ended: Promise<number>
  /** SIGTERM, and SIGKILL when that is not heard. Resolves when it has ended. */
  end(): Promise<void>
}

const graceMs = 5_000

/** The program dies with this process: its terminal goes away. Throws CannotStart when it cannot be started. */
export function openPty(
  program: { command: string; args: readonly string[]; directory: string; env: Readonly<Record<string, string>> },
  console: Console
): Pty {
  const { command, args, directory, env } = program
  const { columns, rows } = console
  const pty = start(() =>
    spawn(command, [...args], {
      cols: columns,
      rows,
      cwd: directory,
      env: { ...env },
      encoding: null,
      name: env['TERM'] ?? 'xterm-256color'
    })
  )
  pty.onData(bytes => console.write(bytes))
  return {
    write: text => pty.write(text),
    resize: size => pty.resize(size.columns, size.rows),
    ended: pty.exited,
    async end() {
      pty.kill('SIGTERM')
      const timer = setTimeout(() => pty.kill('SIGKILL'), graceMs)
      await pty.exited
      clearTimeout(timer)
    }
  }
}

function start(run: () => IPty): IPty {
  try {
    return run()
  } catch (error) {
    throw new CannotStart(`The agent could not be started on a terminal: ${error instanceof Error ? error.message : String(error)}`)
  }
}
