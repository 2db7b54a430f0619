import { callFailures } from '../../protocol/wire/failures.ts'
import { Refused, Unreachable } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import type { LiveSocket } from '../link/socket.ts'

export interface SealedCell {
  value: string | null
  version: number
}

/**
 * Writes with the expected version, or returns the current value. Rejects with `Unreachable` or
 * `Refused`.
 */
export type WriteCell = (
  expected: number,
  value: string
) => Promise<{ type: 'written'; version: number } | ({ type: 'conflict' } & SealedCell)>

type Line = Pick<LiveSocket, 'request'>

export function writeSessionMetadata(socket: Line, session: string): WriteCell {
  return async (expectedVersion, metadata) => {
    const ack = await socket.request('update-metadata', { sid: session, metadata, expectedVersion })
    return outcomeOf(ack, 'metadata' in ack ? ack.metadata : null)
  }
}

export function writeAgentState(socket: Line, session: string): WriteCell {
  return async (expectedVersion, agentState) => {
    const ack = await socket.request('update-state', { sid: session, agentState, expectedVersion })
    return outcomeOf(ack, 'agentState' in ack ? ack.agentState : null)
  }
}

export function writeMachineMetadata(socket: Line, machine: string): WriteCell {
  return async (expectedVersion, metadata) => {
    const ack = await socket.request('machine-update-metadata', { machineId: machine, metadata, expectedVersion })
    return outcomeOf(ack, 'metadata' in ack ? ack.metadata : null)
  }
}

export function writeDaemonState(socket: Line, machine: string): WriteCell {
  return async (expectedVersion, daemonState) => {
    const ack = await socket.request('machine-update-state', { machineId: machine, daemonState, expectedVersion })
    return outcomeOf(ack, 'daemonState' in ack ? ack.daemonState : null)
  }
}

export function writeSettings(rest: Pick<Rest, 'call'>): WriteCell {
  return async (expectedVersion, settings) => {
    const reply = await rest.call('writeSettings', { body: { settings, expectedVersion } })
    if (reply.success) return { type: 'written', version: reply.version }
    return { type: 'conflict', version: reply.currentVersion, value: reply.currentSettings }
  }
}

type Ack =
  | { result: 'success' | 'version-mismatch'; version: number }
  | { result: 'error'; message?: string | undefined; status?: number | undefined }

function outcomeOf(ack: Ack, value: string | null): Awaited<ReturnType<WriteCell>> {
  switch (ack.result) {
    case 'success':
      return { type: 'written', version: ack.version }
    case 'version-mismatch':
      return { type: 'conflict', version: ack.version, value }
    case 'error':
      throw refusalOf(ack.message, ack.status)
  }
}

/**
 * Where an acknowledgement has no status, its text distinguishes a failing server, a missing row and
 * invalid input.
 */
function refusalOf(message = notFound, status = statusOf(message)): Refused | Unreachable {
  return status >= 500 ? new Unreachable('server-error', { status, code: message }) : new Refused(status, message)
}

function statusOf(message: string): number {
  if (message === callFailures.internal || message === tooFast) return 503
  return message === notFound ? 404 : 400
}

const notFound = 'Not found'
const tooFast = 'Too many messages at once'
