import { type AckOf, type ClientEvent, events, type PayloadOf } from '../../../protocol/wire/events.ts'
import { callFailures, failures } from '../../../protocol/wire/failures.ts'
import type { Sealed } from '../../../protocol/wire/ids.ts'
import * as v from '../../../schema.ts'
import { readAccessKey } from '../../actions/access-keys.ts'
import { openArtifact, readArtifact, removeArtifact, writeArtifact } from '../../actions/artifacts.ts'
import type { Calls } from '../../actions/calls/calls.ts'
import { methodRefusal } from '../../actions/calls/register-method.ts'
import { writeCell } from '../../actions/cells.ts'
import { writeDaemonState } from '../../actions/machines.ts'
import { appendMessages } from '../../actions/sessions/messages.ts'
import { forwardPartial } from '../../actions/sessions/partial.ts'
import { mustAllow } from '../../actions/sign-in/authenticate.ts'
import { reportUsage } from '../../actions/usage.ts'
import type { Presence } from '../../chores/presence.ts'
import type { Deps } from '../../deps.ts'
import { eventFrame } from '../../hub/frames.ts'
import type { Hub } from '../../hub/hub.ts'
import type { Limits } from '../../limits.ts'
import { artifactRecordOf, cellAckOf, filled, namedDataOf } from '../../records.ts'
import { failureOf, isWorthReport } from '../../refusals.ts'
import type { Metrics } from '../../watch/metrics.ts'
import type { InFlight } from '../listen/in-flight.ts'
import type { Accepted } from './accepted.ts'
import { FailedTries, Hopeless } from './failed-tries.ts'

/** This many consecutive rejected calls are answered before their connection is closed. */
const mostCallsRefused = 100

const mib = 1024 * 1024
/** Their acknowledgements contain stored values, which may be this large. */
const largestAnswers: Partial<Record<ClientEvent, number>> = {
  'update-metadata': mib,
  'update-state': 4 * mib,
  'machine-update-metadata': mib,
  'machine-update-state': 4 * mib,
  'artifact-read': 64 * mib,
  'artifact-create': 64 * mib,
  'artifact-update': 64 * mib,
  'access-key-get': 32 * mib
}

const done = Promise.resolve()

type Reply = ((body: unknown) => void) | undefined
type Handler<Name extends ClientEvent> = (from: Accepted, payload: PayloadOf<Name>) => Promise<AckOf<Name>> | AckOf<Name>

type Handlers = { [Name in ClientEvent]: Handler<Name> }

export interface EventHandlers {
  /**
   * Handles one event of an accepted connection. Never throws; every error becomes a failed
   * acknowledgement. Resolves when nothing of the payload is retained.
   */
  handle(from: Accepted, name: string, payload: unknown, reply: Reply): Promise<void>
  /** How large the answer to an event may be, where it carries what is stored; else 0. */
  answerBytes(name: string): number
  /** Counts an event of a connection that sends too fast, and answers it if it asks for that. */
  refuse(name: string, reply: Reply): void
}

export function createEventHandlers(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'newId' | 'quotas'> & {
    presence: Presence
    calls: Calls
    hub: Hub
    metrics: Pick<Metrics, 'eventTaken'>
    isLimited: boolean
    limits: Pick<Limits, 'check'>
    inFlight: Pick<InFlight, 'begin'>
    onError: (error: unknown) => void
  }
): EventHandlers {
  const { presence, calls, hub, metrics, isLimited, limits, inFlight, onError } = deps
  const failedTries = new FailedTries()

  const handlers: Handlers = {
    async ping(from) {
      await from.written
      return {}
    },
    async 'update-metadata'(from, { sid, metadata, expectedVersion }) {
      const outcome = await write(from, { of: 'session', id: sid, name: 'metadata' }, expectedVersion, metadata)
      return cellAckOf(outcome, metadata, cell => ({ metadata: filled(cell) }))
    },
    async 'update-state'(from, { sid, agentState, expectedVersion }) {
      const outcome = await write(from, { of: 'session', id: sid, name: 'agentState' }, expectedVersion, agentState)
      return cellAckOf(outcome, agentState, cell => ({ agentState: cell.value }))
    },
    async 'machine-update-metadata'(from, { machineId, metadata, expectedVersion }) {
      const outcome = await write(from, { of: 'machine', id: machineId, name: 'metadata' }, expectedVersion, metadata)
      return cellAckOf(outcome, metadata, cell => ({ metadata: filled(cell) }))
    },
    async 'machine-update-state'(from, { machineId, daemonState, expectedVersion }) {
      const outcome = await writeDaemonState(deps, from.writer, { id: machineId, expected: expectedVersion, value: daemonState })
      return cellAckOf(outcome, daemonState, cell => ({ daemonState: cell.value }))
    },
    async 'session-alive'(from, { sid, time, thinking }) {
      await presence.alive(from.sender, { of: 'session', id: sid }, { time, thinking: thinking ?? false })
    },
    async 'session-end'(from, { sid, time }) {
      await presence.sessionEnded(from.sender, sid, time)
    },
    async 'machine-alive'(from, { machineId, time }) {
      await presence.alive(from.sender, { of: 'machine', id: machineId }, { time, thinking: false })
    },
    async message(from, { sid, message, localId }) {
      const append = () => appendMessages(deps, from.sender, sid, [{ localId: localId ?? null, sealed: message }])
      await failedTries.count(JSON.stringify([from.account, sid, localId ?? message.slice(0, 64)]), append)
    },
    'rpc-register'(from, { method }) {
      // It disconnected while this waited its turn, and would stay registered forever.
      if (from.hasEnded) return
      const error = methodRefusal(from.scope, method, from.methods.size)
      if (error !== undefined) {
        from.send(eventFrame('rpc-error', { type: 'register', error }))
        throw new Declined(undefined)
      }
      from.methods.add(method)
      hub.register(from, method)
    },
    'rpc-unregister'(from, { method }) {
      from.methods.delete(method)
      hub.unregister(from, method)
    },
    // Not an async function: that would retain the parameters until the answer comes.
    'rpc-call'(from, { method, params }) {
      // As text they would be many times as large, and no client sends them.
      if (hasBytes(params)) return { ok: false, error: callFailures['no-method'] }
      return calls.call(from.sender, { method, params, from: from.id, signal: from.gone }).then(result => {
        const isTooMany = !result.ok && result.why === 'too-many'
        from.callsRefused = isTooMany ? from.callsRefused + 1 : 0
        if (isLimited && from.callsRefused > mostCallsRefused) from.close('too-fast')
        return result.ok ? { ok: true, result: result.value } : { ok: false, error: callFailures[result.why] }
      })
    },
    'app-state'(from, { state, partials, watchedForMs }) {
      from.watch(state, watchedForMs)
      from.takesPartials = partials ?? from.takesPartials
    },
    async partial(from, { sid, partial }) {
      forwardPartial(deps, from.sender, from.scope, { session: sid, partial })
    },
    async 'usage-report'(from, report) {
      const { id: reportId, createdAt, updatedAt } = await reportUsage(deps, from.sender, report)
      return { success: true, reportId, createdAt, updatedAt }
    },
    async 'artifact-read'(from, { artifactId }) {
      return { result: 'success', artifact: artifactRecordOf(await readArtifact(deps, from.sender, artifactId)) }
    },
    async 'artifact-create'(from, draft) {
      return { result: 'success', artifact: artifactRecordOf(await openArtifact(deps, from.writer, draft)) }
    },
    async 'artifact-update'(from, { artifactId, header, body }) {
      const outcome = await writeArtifact(deps, from.writer, artifactId, {
        ...(header && { header: { expected: header.expectedVersion, value: header.data } }),
        ...(body && { body: { expected: body.expectedVersion, value: body.data } })
      })
      return {
        result: outcome.written ? 'success' : 'version-mismatch',
        ...(outcome.header && { header: namedDataOf(outcome.header) }),
        ...(outcome.body && { body: namedDataOf(outcome.body) })
      } satisfies AckOf<'artifact-update'>
    },
    async 'artifact-delete'(from, { artifactId }) {
      await removeArtifact(deps, from.writer, artifactId)
      return { result: 'success' }
    },
    async 'access-key-get'(from, { sessionId: session, machineId: machine }) {
      return { ok: true, accessKey: await readAccessKey(deps, from.sender, { session, machine }) }
    }
  }

  function write(from: Accepted, cell: Parameters<typeof writeCell>[2], expected: number, value: Sealed | null) {
    return writeCell(deps, from.writer, cell, expected, value)
  }

  async function run<Name extends ClientEvent>(name: Name, from: Accepted, payload: unknown): Promise<unknown> {
    mustAllow(from.sender, events[name].needs)
    if (largestAnswers[name] !== undefined) limits.check('socketAnswers', from.account)
    const parsed = v.safeParse(events[name].payload, payload)
    if (!parsed.success) throw new Declined(badInput(name))
    const handler: Handler<Name> = handlers[name]
    // The schema of this name has just validated it.
    return handler(from, parsed.data as PayloadOf<Name>)
  }

  function runAndReply(name: ClientEvent, from: Accepted, payload: unknown, reply: Reply): Promise<void> {
    return run(name, from, payload).then(
      ack => {
        metrics.eventTaken(name, 'done')
        reply?.(ack)
      },
      error => {
        const isDeclined = error instanceof Declined
        // Also where no acknowledgement tells the client: this is then the only trace of it.
        metrics.eventTaken(name, isDeclined || failureOf(error) ? 'refused' : 'failed')
        if (isDeclined) {
          reply?.(error.ack)
          return
        }
        if (isWorthReport(error)) onError(error)
        // Nobody hears that this message is not stored, and the answer to a later ping would say that it is.
        if (name === 'message' && !reply && mayPassLater(error)) from.close('try-again')
        reply?.(failed(name, error))
      }
    )
  }

  return {
    answerBytes: name => (isClientEvent(name) && largestAnswers[name]) || 0,
    handle(from, name, payload, reply) {
      if (!isClientEvent(name)) {
        metrics.eventTaken('other', 'refused')
        return done
      }
      const work = runAndReply(name, from, payload, reply)
      work.then(inFlight.begin())
      if (name !== 'ping' && name !== 'rpc-call') from.writes(work)
      // The parameters of a call are counted where they wait for its callee. It is over with this turn and not at once, so
      // that no more calls of an account begin in one turn than other events.
      return name === 'rpc-call' ? turnEnds() : work
    },
    refuse(name, reply) {
      metrics.eventTaken(isClientEvent(name) ? name : 'other', 'refused')
      reply?.(isClientEvent(name) ? refused(name, 'Too many messages at once') : undefined)
    }
  }
}

/** An event that can never be done as it was sent, with what acknowledges it. */
class Declined extends Error {
  override readonly name = 'Declined'
  readonly ack: unknown

  constructor(ack: unknown) {
    super('Declined')
    this.ack = ack
  }
}

let turnEnd: Promise<void> | undefined

/** One promise for everything of the turn. */
function turnEnds(): Promise<void> {
  turnEnd ??= new Promise(resolve => {
    setImmediate(() => {
      turnEnd = undefined
      resolve()
    })
  })
  return turnEnd
}

function isClientEvent(name: string): name is ClientEvent {
  return Object.hasOwn(events, name)
}

/** Not so if it can never be stored: a client that sends it again on each connection would never stay connected. */
function mayPassLater(error: unknown): boolean {
  if (error instanceof Hopeless) return false
  const known = failureOf(error)
  return known === undefined || failures[known.code].retry
}

function hasBytes(value: unknown): boolean {
  if (value instanceof Uint8Array) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBytes)
}

function badInput(name: ClientEvent): unknown {
  if (name === 'rpc-call') return { ok: false, error: callFailures['no-method'] }
  return events[name].ack.type === 'undefined' ? undefined : refused(name, 'Invalid parameters')
}

function failed(name: ClientEvent, error: unknown): unknown {
  const known = failureOf(error)
  return known ? refused(name, known.message, failures[known.code].status) : refused(name, callFailures.internal)
}

function refused(name: ClientEvent, message: string, status?: number): unknown {
  switch (name) {
    case 'rpc-call':
    case 'access-key-get':
      return { ok: false, error: message }
    case 'usage-report':
      return { success: false, error: message }
    default:
      return { result: 'error', message, ...(status !== undefined && { status }) }
  }
}
