import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CannotStart } from '../exit.ts'

/** What starts a program with the system, or with a person's login session, and restarts it when it fails. */
export interface ServiceManager {
  /** The service definition. */
  readonly file: string
  /**
   * Throws CannotStart if the service manager cannot be used, before anything is changed; `instead` says
   * what a person can do then.
   */
  refuseIfUnable(instead: string): void
  /** Also in place of an earlier one, which is restarted. */
  install(definition: string): void
  uninstall(): void
  isRunning(): boolean
}

export function runTool(command: string, args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw new CannotStart(`${command} cannot be run here: ${error.message}`)
  if (status !== 0) throw new CannotStart(`${command} ${args.join(' ')} failed: ${stderr.trim() || `exit code ${status}`}`)
}

export function saveDefinition(file: string, text: string | Uint8Array, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode })
}
