import { homedir, hostname, platform } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { version } from '../../assets.ts'
import type { Forgery } from '../../client/calls/calls.ts'
import { type MachineHandlers, serveMachine } from '../../client/calls/machine-calls.ts'
import { createRest, type Fetch, type TokenSource } from '../../client/link/rest.ts'
import { createRetrier } from '../../client/link/retry.ts'
import { type LiveSocket, openSocket, type SocketState } from '../../client/link/socket.ts'
import { writeDaemonState, writeMachineMetadata } from '../../client/outbox/cell-writers.ts'
import { type Cell, openCell } from '../../client/outbox/cells.ts'
import { terminalVault } from '../../client/sealed/vault.ts'
import { type DaemonState, daemonState, type MachineMetadata, machineMetadata } from '../../protocol/sealed/machine.ts'
import type { MachineRecord } from '../../protocol/wire/records.ts'
import type { Credentials, Home } from '../home/credentials.ts'
import { openPinFile, registerMachine } from '../home/machine.ts'
import { openSeenCalls } from '../home/replay-protection.ts'
import { watchNetwork } from '../uplink/network.ts'

interface MachineLineOptions {
  home: Pick<Home, 'path' | 'machineId'>
  credentials: Credentials
  token: string | TokenSource
  fetch: Fetch
  handlers: Partial<MachineHandlers>
  /** Which agents are here, by name. */
  agents(): Record<string, boolean>
  onState(state: LineState): void
  /** A call was rejected that no client made like this. */
  onForged(forgery: Forgery): void
}

export type LineState = { type: 'connecting' | 'live' } | { type: 'away'; reason: string } | { type: 'unlinked' }

/** This computer's connection to the server: registered there, online, and open to calls. */
interface MachineLine {
  readonly state: LineState
  /** Reports the daemon as gone, if there is a link, and closes. */
  close(): Promise<void>
}

const aliveEveryMs = 20_000
const goodbyeMs = 2_000

/** Keeps trying while it is open; nothing has to be reachable at the start. */
export function openMachineLine(options: MachineLineOptions): MachineLine {
  const { home, credentials, token, fetch, handlers } = options
  const { server } = credentials
  const { cipher } = terminalVault(credentials.keys).machine
  const end = new AbortController()
  const rest = createRest({ server, token, fetch })
  let state: LineState = { type: 'connecting' }
  let socket: LiveSocket | undefined
  let daemonCell: Cell<DaemonState> | undefined
  let timer: NodeJS.Timeout | undefined
  let wasDown = false
  let takeBack = (_: MachineRecord) => {}

  const enter = (next: LineState) => {
    if (end.signal.aborted) return
    state = next
    options.onState(next)
  }
  const retrier = createRetrier({
    signal: end.signal,
    onWait: error => enter({ type: 'away', reason: error.message })
  })
  const tellAlive = (how?: { volatile: boolean }) => socket?.send('machine-alive', { machineId: home.machineId, time: Date.now() }, how)

  async function open(): Promise<void> {
    await retrier.attempt(signal => registerMachine(rest, home, credentials.keys, signal))
    const { machine } = await retrier.attempt(signal => rest.call('readMachine', { params: { id: home.machineId } }, { signal }))
    const line = openSocket({ server, token, scope: { as: 'machine', id: home.machineId }, WebSocket })
    socket = line
    openCells(line, machine)
    const seen = openSeenCalls(join(home.path, 'daemon', 'calls.seen'))
    const pin = openPinFile(join(home.path, 'daemon', 'hears.names'))
    serveMachine({ socket: line, cipher, machine: home.machineId, handlers, ...seen, pin, onForged: options.onForged })
    line.onState(now => follow(now))
    timer = setInterval(() => tellAlive({ volatile: true }), aliveEveryMs)
  }

  function openCells(line: LiveSocket, machine: MachineRecord): void {
    const id = home.machineId
    const emptyState: DaemonState = { status: 'offline' }
    daemonCell = openCell<DaemonState>({
      cipher,
      schema: daemonState,
      cell: { value: machine.daemonState, version: machine.daemonStateVersion },
      empty: emptyState,
      socket: line,
      write: writeDaemonState(line, id)
    })
    const metadataCell = openCell<MachineMetadata>({
      cipher,
      schema: machineMetadata,
      cell: { value: machine.metadata, version: machine.metadataVersion },
      empty: metadataNow(home.path),
      socket: line,
      write: writeMachineMetadata(line, id)
    })
    const isClosed = () => {}
    const started = { status: 'running', pid: process.pid, startedAt: Date.now(), startedWithCliVersion: version() }
    const daemon = daemonCell
    const sayAll = () => {
      daemon.update(before => ({ ...before, ...started })).catch(isClosed)
      metadataCell.update(before => ({ ...before, ...metadataNow(home.path), ...abilities(options) })).catch(isClosed)
    }
    sayAll()
    takeBack = now => {
      daemon.replace({ value: now.daemonState, version: now.daemonStateVersion })
      metadataCell.replace({ value: now.metadata, version: now.metadataVersion })
      if (daemon.value.status !== 'running' || daemon.value.pid !== process.pid) sayAll()
    }
    end.signal.addEventListener('abort', () => metadataCell.close(), { once: true })
  }

  /** A restored server has the state of this computer from then. */
  async function comeBack(): Promise<void> {
    const { machine } = await rest.call('readMachine', { params: { id: home.machineId } }, { signal: end.signal })
    takeBack(machine)
  }

  function follow(now: SocketState): void {
    switch (now.type) {
      case 'live':
        // The connection is busy with its own answers, so droppable events would be dropped.
        tellAlive()
        enter({ type: 'live' })
        // If it cannot be fetched now, it is fetched at the next reconnect.
        if (wasDown) comeBack().catch(() => {})
        return
      case 'down':
        wasDown = true
        enter({ type: 'away', reason: now.reason })
        return
      case 'refused':
        enter({ type: 'unlinked' })
        return
      case 'connecting':
      case 'closed':
        return
    }
  }

  const stopWatching = watchNetwork(() => {
    retrier.hurry()
    socket?.reconnectNow()
  })
  open().catch(() => enter({ type: 'unlinked' }))
  return {
    get state() {
      return state
    },
    async close() {
      clearInterval(timer)
      stopWatching()
      if (socket?.state.type === 'live' && daemonCell) {
        const stopped = { status: 'offline', shutdownRequestedAt: Date.now() }
        const said = daemonCell.update(before => ({ ...before, ...stopped }))
        await Promise.race([said.catch(() => {}), new Promise(resolve => setTimeout(resolve, goodbyeMs))])
      }
      end.abort(new Error('the line of the machine was closed'))
      daemonCell?.close()
      socket?.close()
    }
  }
}

/** In the format of existing apps, and in ours. */
function abilities({ handlers, agents }: MachineLineOptions): Partial<MachineMetadata> {
  const detectedAt = Date.now()
  return {
    cliAvailability: { ...agents(), detectedAt },
    resumeSupport: {
      rpcAvailable: true,
      requiresSameMachine: true,
      requiresHappyAgentAuth: false,
      happyAgentAuthenticated: false,
      detectedAt
    },
    methods: Object.keys(handlers)
  }
}

function metadataNow(homePath: string): MachineMetadata {
  return { host: hostname(), platform: platform(), happyCliVersion: version(), homeDir: homedir(), happyHomeDir: homePath }
}
