import { lease } from '../../../home/ownership.ts'
import type { Console } from '../../../terminal/console.ts'
import { howEnded, openPty } from '../../pty.ts'
import { type OwnStatus, readOwnStatus } from './own-status.ts'

/** The program of Claude Code in the person's terminal; the person's keys go to it. */
export interface OwnScreen {
  /** Resolves when it takes pasted text. */
  readonly isReady: Promise<void>
  readonly status: OwnStatus['now']
  readonly ended: Promise<TerminalEnd>
  write(keys: string): void
  end(): Promise<void>
}

/** `left` by its person, `died` in the words given, or `refused` to start, before anybody had pressed a key. */
export type TerminalEnd = { type: 'left' } | { type: 'died' | 'refused'; how: string }

/** `wasHeard` tells whether a hook was called. Throws CannotStart. */
export function openOwnScreen(
  program: { command: string; args: readonly string[]; directory: string; env: Readonly<Record<string, string>> },
  console: Console,
  wasHeard: () => boolean
): OwnScreen {
  const pty = openPty(program, console)
  const status = readOwnStatus(program.env, pty.pid)
  pty.onOutput(output => status.see(output))
  const release = lease(pty.pid, { of: 'agent', title: 'Claude Code', folder: program.directory })
  let hasKeys = false
  const giveKeysBack = console.takeKeys(keys => {
    hasKeys = true
    pty.write(keys.toString())
  })
  const stopResizing = console.onResize(() => pty.resize(console))
  const endOf = ({ code, signal }: { code: number; signal: number }): TerminalEnd => {
    if (code === 0 && signal === 0) return { type: 'left' }
    const how = howEnded({ code, signal })
    return { type: wasHeard() || hasKeys || signal !== 0 ? 'died' : 'refused', how }
  }
  return {
    isReady: pty.isReady,
    get status() {
      return status.now
    },
    ended: pty.ended.then(how => {
      release()
      giveKeysBack()
      stopResizing()
      return endOf(how)
    }),
    write: keys => pty.write(keys),
    end: () => pty.end()
  }
}
