import { version } from '../../assets.ts'
import { createRest, type Fetch } from '../../client/link/rest.ts'
import { type Credentials, deviceToken, type Home } from '../home/credentials.ts'
import { spareMemory } from '../home/own-process.ts'
import { listOpenSessions } from '../home/session-folder.ts'
import { recoverUntilDone } from '../session/recovery.ts'
import { openCatchUp } from './catch-up/catch-up.ts'
import { endIdle } from './catch-up/idle-end.ts'
import { agentsByName } from './computer/agents.ts'
import { openDaemonControl } from './control.ts'
import { openKeepAwake } from './keep-awake.ts'
import { restoreSession } from './launch/restore.ts'
import { createResumer } from './launch/resume.ts'
import { type LineState, openMachineLine } from './machine-line.ts'
import { machineMethods } from './machine-methods.ts'
import { claimDaemon } from './single-daemon.ts'

interface DaemonOptions {
  home: Home
  credentials: Credentials
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  /** A line for the log. */
  tell(line: string): void
}

interface Daemon {
  /** Resolves when it was asked to stop or to be replaced, here or from a phone, and has closed its connections. */
  readonly ended: Promise<'stopped' | 'restarts'>
  stop(): void
}

/** Keeps this computer reachable for the phone. Sessions are their own processes and do not depend on it. */
export function startDaemon({ home, credentials, env, fetch, tell }: DaemonOptions): Daemon {
  const claim = claimDaemon(home.path, {
    pid: process.pid,
    server: credentials.server,
    version: version(),
    startedAt: Date.now(),
    link: 'connecting'
  })
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  const resumer = createResumer({ home: home.path, env })
  let how: 'stopped' | 'restarts' = 'stopped'
  const restart = () => {
    how = 'restarts'
    stop()
  }
  const token = deviceToken({ home, credentials, fetch })
  const catchUp = openCatchUp({ home, credentials, token, fetch, resumer, signal: stopped.signal, tell })
  const keepAwake = openKeepAwake({ home: home.path, env, isWorking: () => catchUp.working().length > 0 })
  const rest = createRest({ server: credentials.server, token, fetch })
  const remember = (id: string, reminder: unknown) => restoreSession({ home, credentials, rest }, id, reminder)
  const handlers = {
    ...machineMethods({ home: home.path, server: credentials.server, env, resumer, remember, stop, restart }),
    ...keepAwake.methods
  }
  const line = openMachineLine({
    home,
    credentials,
    token,
    fetch,
    handlers,
    agents: () => agentsByName(env),
    onState(state) {
      const link = inWords(state)
      quietly(() => claim.note({ link }), tell)
      tell(link)
    },
    onForged: ({ why, method }) => tell(`rejected a call to ${method} that was altered or replayed in transit: ${why}`)
  })
  const memory = spareMemory()
  const idling = setInterval(() => quietly(() => endIdle(home.path, Date.now()), tell), idleLookMs)
  const control = openDaemonControl(
    home.path,
    { status: () => claim.notes, list: () => running(home.path), stop: answered => stopAfter(answered, stop) },
    tell
  )
  const leftovers = recoverUntilDone({ home, fetch, signal: stopped.signal, onTrouble: tell }).catch(error =>
    tell(`leftovers: ${error instanceof Error ? error.message : String(error)}`)
  )

  async function end(): Promise<'stopped' | 'restarts'> {
    await new Promise(resolve => stopped.signal.addEventListener('abort', resolve))
    clearInterval(idling)
    memory.close()
    keepAwake.close()
    await line.close()
    await Promise.all([leftovers, catchUp.close()])
    await (await control)?.close()
    claim.leave()
    tell(how)
    return how
  }
  return { ended: end(), stop }
}

const idleLookMs = 60_000

function quietly(work: () => void, tell: (line: string) => void): void {
  try {
    work()
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error))
  }
}

function running(home: string) {
  return listOpenSessions(home).flatMap(({ pid, notes: { id, metadata } }) => (pid === undefined ? [] : { id, pid, folder: metadata.path }))
}

/** The answer has to be sent before the socket is closed. */
function stopAfter(answered: Promise<void>, stop: () => void): Record<string, never> {
  void answered.then(stop)
  return {}
}

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
