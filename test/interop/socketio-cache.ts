import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type * as socketIo from 'socket.io-client'

/** The last release of each minor version of the client. */
export const clientVersions = ['4.0.2', '4.1.3', '4.2.0', '4.3.2', '4.4.1', '4.5.4', '4.6.2', '4.7.5', '4.8.4'] as const

/** Where the clients are kept between runs; never inside the checkout. */
export function clientsCache(): string {
  const { SOCKETIO_CLIENTS_CACHE, XDG_CACHE_HOME } = process.env
  return SOCKETIO_CLIENTS_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'afield', 'socketio-clients')
}

export type ClientLibrary = typeof socketIo

/** The library of that version in the cache, or undefined when it is not there. */
export function loadClient(cache: string, version: string): ClientLibrary | undefined {
  try {
    return createRequire(join(cache, 'package.json'))(aliasOf(version))
  } catch {
    return undefined
  }
}

function aliasOf(version: string): string {
  return `socket.io-client-${version}`
}

/** Fetches them from the npm registry. */
export function installClients(cache: string): void {
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n')
  const packages = clientVersions.map(version => `${aliasOf(version)}@npm:socket.io-client@${version}`)
  const { status } = spawnSync('npm', ['install', ...packages, '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: cache,
    stdio: 'inherit',
    shell: process.platform === 'win32'
  })
  if (status !== 0) throw new Error(`npm install ended with ${status}.`)
}
