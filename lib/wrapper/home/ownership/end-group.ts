import { spawnSync } from 'node:child_process'

/** Windows has no groups of processes: there a process is ended with all that it started, at once. */
export const hasGroups = process.platform !== 'win32'

/** Signals the group that a process leads; nothing happens when it has ended. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    if (hasGroups) process.kill(-pid, signal)
    else spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
  } catch {
    // Nothing of it is left.
  }
}
