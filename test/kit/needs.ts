import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { delimiter, join } from 'node:path'
import { isPublishedThere, published, publishedFolder } from './published.ts'

/** Real programs that tests run Afield with: their commands or files, and the package of Debian that has them. `.ci/run` installs them. */
const needs = {
  nginx: { commands: ['nginx'], package: 'nginx-light' },
  haproxy: { commands: ['haproxy'], package: 'haproxy' },
  caddy: { commands: ['caddy'], package: 'caddy' },
  pebble: { commands: ['pebble', 'pebble-challtestsrv'], package: 'pebble' },
  postgresql: { commands: ['initdb', 'pg_ctl'], package: 'postgresql' },
  redis: { commands: ['redis-server', 'redis-cli'], package: 'redis-server' },
  minisign: { commands: ['minisign'], package: 'minisign' },
  ripgrep: { commands: ['rg'], package: 'ripgrep' },
  xfsprogs: { commands: ['mkfs.xfs'], package: 'xfsprogs' },
  e2fsprogs: { commands: ['mkfs.ext4'], package: 'e2fsprogs' },
  strace: { commands: ['strace'], package: 'strace' },
  fail2ban: { commands: ['fail2ban-regex'], package: 'fail2ban' },
  libfaketime: { files: '/usr/{lib,lib64,lib/*}/faketime/libfaketimeMT.so.1', package: 'libfaketime' }
} as const satisfies Record<string, { package: string } & ({ commands: readonly string[] } | { files: string })>

export type Need = keyof typeof needs

/** Why tests with this program are skipped; false if they can run. In `.ci/run` they run in any case, and fail without it. */
export function lacks(name: Need): string | false {
  const need = needs[name]
  const isThere = 'files' in need ? globSync(need.files).length > 0 : need.commands.every(command => pathOf(command) !== undefined)
  return !isThere && !mustRun && `${name} is not installed: apt-get install ${need.package}`
}

const mustRun = process.env['AFIELD_TEST_ALL'] !== undefined

/** Programs published on npm: their own variables name others. */
const publishedPrograms = {
  claude: { variable: 'CLAUDE_BIN', file: '@anthropic-ai/claude-code-linux-x64/claude' },
  codex: { variable: 'CODEX_BIN', file: '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex' },
  opencode: { variable: 'OPENCODE_BIN', file: 'opencode-linux-x64/bin/opencode' }
} as const

export type PublishedProgram = keyof typeof publishedPrograms

/** The same as `lacks` for agents and clients that others publish on npm. */
export function lacksPublished(name?: PublishedProgram): string | false {
  const isNamed = name !== undefined && process.env[publishedPrograms[name].variable] !== undefined
  return !isNamed && !isPublishedThere() && !mustRun && `it is not in ${publishedFolder}: node test/kit/published.ts fetches it (1.9 GB)`
}

export function publishedProgram(name: PublishedProgram): string {
  const { variable, file } = publishedPrograms[name]
  return process.env[variable] ?? published(file)
}

/** A folder in which npm installed the adapter of Claude Code; undefined where none is, and Afield fetches it. */
export function claudeAdapterFolder(): string | undefined {
  return process.env['CLAUDE_ADAPTER'] ?? (isPublishedThere() ? publishedFolder : undefined)
}

/** Why no small disk can be mounted; false if one can. */
export function cannotMount(): string | false {
  const canMount = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0
  return !canMount && 'no disk can be mounted here: run it as root on Linux'
}

/** Why nothing can listen on `::1`; false if it can. */
export function lacksIpv6(): string | false {
  const isThere = Object.values(networkInterfaces()).some(addresses => addresses?.some(({ address }) => address === '::1'))
  return !isThere && 'this computer has no IPv6'
}

/** What may be skipped in `.ci/run`, by the reason that the test gives, and why it cannot run there. */
export const maySkip: readonly (readonly [reason: RegExp, why: string])[] = [
  [/^no disk can be mounted here/, 'a container has no right to mount'],
  [/^cutting the power of a disk needs root/, 'CI may run as a person'],
  [/^only root /, 'CI may run as a person'],
  [/^this computer has no IPv6/, 'a container may have none'],
  [/^strace may not trace here/, 'a container may forbid tracing'],
  [/^another user cannot run the program from here/, 'the checkout may be in a folder of root, such as /root']
]

/** Debian has servers where a person's PATH does not look. */
export function pathOf(command: string): string | undefined {
  const ofPostgres = globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/usr/local/bin', ...ofPostgres]
  return folders.map(folder => join(folder, command)).find(path => existsSync(path))
}
