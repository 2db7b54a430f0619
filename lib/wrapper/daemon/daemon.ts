import { version } from '../../assets.ts'
import type { Fetch } from '../../client/rest.ts'
import type { Credentials, Home } from '../credentials.ts'
import { deliverLeftovers } from '../leftovers.ts'
import { listSessions } from '../session-folder.ts'
import { openDaemonControl } from './control.ts'
import { type LineState, openMachineLine } from './machine-line.ts'
import { machineMethods } from './machine-methods.ts'
import { takePlace } from './place.ts'

export interface DaemonOptions {
  home: Home
  credentials: Credentials
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** A line for the log. */
  tell(line: string): void
}

export interface Daemon {
  /** Resolves when it was asked to stop, here or from a phone, and has said goodbye. */
  readonly ended: Promise<void>
  stop(): void
}

/** Keeps this computer reachable for the phone. Sessions are processes of their own and do not notice when it comes and goes. */
export function startDaemon({ home, credentials, env, fetch, tell }: DaemonOptions): Daemon {
  const place = takePlace(home.path, {
    pid: process.pid,
    server: credentials.server,
    version: version(),
    startedAt: Date.now(),
    link: 'connecting'
  })
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  const handlers = machineMethods({ home: home.path, server: credentials.server, env, stop })
  const line = openMachineLine({
    home,
    credentials,
    fetch,
    handlers,
    onState(state) {
      const link = inWords(state)
      place.note({ link })
      tell(link)
    }
  })
  const control = openDaemonControl(
    home.path,
    { status: () => place.notes, list: () => running(home.path), stop: () => stopSoon(stop) },
    tell
  )
  const leftovers = deliverLeftovers({ home, fetch, withinMs: dayMs, signal: stopped.signal })

  async function end(): Promise<void> {
    await new Promise(resolve => stopped.signal.addEventListener('abort', resolve, { once: true }))
    await line.close()
    await leftovers
    await (await control)?.close()
    place.leave()
    tell('stopped')
  }
  return { ended: end(), stop }
}

const dayMs = 24 * 3600 * 1000

function running(home: string) {
  return listSessions(home).flatMap(({ pid, notes: { id, metadata } }) => (pid === undefined ? [] : { id, pid, folder: metadata.path }))
}

/** The answer has to leave before the socket is closed. */
function stopSoon(stop: () => void): Record<string, never> {
  setTimeout(stop, answerFirstMs)
  return {}
}

const answerFirstMs = 50

function inWords(state: LineState): string {
  switch (state.type) {
    case 'live':
      return 'live'
    case 'connecting':
      return 'connecting'
    case 'away':
      return `no link: ${state.reason}`
    case 'unlinked':
      return 'unlinked'
  }
}
