import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { CannotStart } from '../exit.ts'
import { runTool, type ServiceManager, saveDefinition } from './manager.ts'

/** The system's systemd, or that of a person's login session. */
export function systemd({ file, scope }: { file: string; scope: 'system' | 'user' }): ServiceManager {
  const unit = basename(file)
  const asUser = scope === 'user' ? ['--user'] : []
  const systemctl = (...args: string[]) => runTool('systemctl', [...asUser, ...args])
  return {
    file,
    refuseIfUnable(instead) {
      const { error, status, stderr } = spawnSync('systemctl', [...asUser, 'show-environment'], { encoding: 'utf8' })
      if (!error && status === 0) return
      const where =
        scope === 'user' ? '; it only does in your own login session, not after su or in a container' : '; it does not in most containers'
      const why = error ? 'This system has no systemd' : `systemd is not responding here (${stderr.trim()})${where}`
      throw new CannotStart(`${why}. ${instead}`)
    },
    install(definition) {
      saveDefinition(file, definition, scope === 'user' ? 0o600 : 0o644)
      systemctl('daemon-reload')
      systemctl('enable', unit)
      // Also one that already runs with an earlier unit.
      systemctl('restart', unit)
    },
    uninstall() {
      systemctl('disable', '--now', unit)
      rmSync(file, { force: true })
      systemctl('daemon-reload')
    },
    isRunning: () => spawnSync('systemctl', [...asUser, '--quiet', 'is-active', unit]).status === 0
  }
}

/** A command in a unit: its words quoted, and no dollar of them read as a variable. */
export function commandOf(words: readonly string[]): string {
  return words.map(word => quoted(word).replaceAll('$', '$$$$')).join(' ')
}

/**
 * In systemd's word syntax: quoted, with its special characters doubled. A dollar is one of them only in
 * commands.
 */
export function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replace(/%/g, '%%')}"`
}
