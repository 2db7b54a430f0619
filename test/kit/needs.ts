import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Real programs that tests run Afield with: their commands, and the package of Debian that has them. `.ci/run` installs them, except Caddy. */
const needs = {
  nginx: { commands: ['nginx'], package: 'nginx-light' },
  haproxy: { commands: ['haproxy'], package: 'haproxy' },
  caddy: { commands: ['caddy'], package: 'caddy', isOptional: true },
  pebble: { commands: ['pebble', 'pebble-challtestsrv'], package: 'pebble' },
  postgresql: { commands: ['initdb', 'pg_ctl'], package: 'postgresql' },
  redis: { commands: ['redis-server', 'redis-cli'], package: 'redis-server' },
  minisign: { commands: ['minisign'], package: 'minisign' }
} as const satisfies Record<string, { commands: readonly string[]; package: string; isOptional?: boolean }>

export type Need = keyof typeof needs

/** Why tests with this program are skipped; false if they can run. In `.ci/run` they run in any case, and fail without it. */
export function lacks(name: Need): string | false {
  const { commands, package: from, ...more } = needs[name]
  const isThere = commands.every(command => pathOf(command) !== undefined)
  const mustRun = process.env['AFIELD_TEST_ALL'] !== undefined && !('isOptional' in more)
  return !isThere && !mustRun && `${name} is not installed: apt-get install ${from}`
}

/** Debian has servers where a person's PATH does not look. */
export function pathOf(command: string): string | undefined {
  const ofPostgres = globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/usr/local/bin', ...ofPostgres]
  return folders.map(folder => join(folder, command)).find(path => existsSync(path))
}
