import type { Clock } from '../async/clock.ts'
import type { Bus, BusEvent } from '../bus/bus.ts'
import { type CallFailure, callFailures } from '../protocol/wire/failures.ts'
import { type Sealed, sealed } from '../protocol/wire/ids.ts'
import type { Connection } from './connection.ts'
import { eventFrame } from './frames.ts'

const answerWithinMs = 30_000

type CallEvent = Extract<BusEvent, { type: 'call' }>
type CalleeEvent = Extract<BusEvent, { type: 'call' | 'callee-here' | 'call-dropped' }>

/** The connections of one account at this instance that answer calls. */
export interface CalleeDesk {
  register(connection: Connection, method: string): void
  unregister(connection: Connection, method: string): void
  /** The connection is gone: it answers nothing any more, and its open calls end. */
  drop(connection: Connection): void
  hear(event: CalleeEvent): void
}

export function createCalleeDesk({ bus, clock }: { bus: Bus; clock: Clock }): CalleeDesk {
  const calleeByMethod = new Map<string, Connection>()
  const openCalls = new Map<string, { callee: Connection; end: (why: CallFailure) => void }>()

  function isOver(connection: Connection, method: string) {
    calleeByMethod.delete(method)
    connection.send(eventFrame('rpc-unregistered', { method }))
  }

  // The newest registration wins wherever it was made; after a half-open link the older one is the dead one.
  function yieldTo({ method, connection }: Extract<CalleeEvent, { type: 'callee-here' }>) {
    const callee = calleeByMethod.get(method)
    if (callee && callee.id !== connection) isOver(callee, method)
  }

  function take(call: CallEvent) {
    const callee = calleeByMethod.get(call.method)
    // A caller may ask again for a call that is under way; it runs once.
    if (!callee || openCalls.has(call.id)) return
    bus.publish(call.replyTo, { type: 'call-taken', id: call.id })
    if (callee.id === call.from) return answer(call, { ok: false, why: 'same-connection' })

    const controller = new AbortController()
    const end = (why: CallFailure) => controller.abort(why)
    openCalls.set(call.id, { callee, end })
    const cancelLimit = clock.after(answerWithinMs, () => end('timed-out'))
    callee
      .ask('rpc-request', { method: call.method, params: call.params }, controller.signal)
      .then(
        reply => resultOf(reply),
        error => ({ ok: false as const, why: whyOf(controller.signal, error) })
      )
      .then(result => {
        cancelLimit()
        openCalls.delete(call.id)
        answer(call, result)
      })
  }

  function answer(call: CallEvent, result: { ok: true; value: Sealed } | { ok: false; why: CallFailure }) {
    bus.publish(call.replyTo, { type: 'call-answered', id: call.id, result })
  }

  return {
    register(connection, method) {
      const before = calleeByMethod.get(method)
      if (before && before !== connection) isOver(before, method)
      calleeByMethod.set(method, connection)
    },
    unregister(connection, method) {
      if (calleeByMethod.get(method) === connection) calleeByMethod.delete(method)
    },
    drop(connection) {
      for (const [method, callee] of calleeByMethod) if (callee === connection) calleeByMethod.delete(method)
      for (const { callee, end } of openCalls.values()) if (callee === connection) end('callee-gone')
    },
    hear(event) {
      switch (event.type) {
        case 'call':
          return take(event)
        case 'callee-here':
          return yieldTo(event)
        case 'call-dropped':
          openCalls.get(event.id)?.end('internal')
      }
    }
  }
}

function resultOf(reply: unknown): { ok: true; value: Sealed } | { ok: false; why: CallFailure } {
  const value = sealed.safeParse(reply)
  return value.success ? { ok: true, value: value.data } : { ok: false, why: 'internal' }
}

function whyOf(signal: AbortSignal, error: unknown): CallFailure {
  const reason: unknown = signal.aborted ? signal.reason : error
  return typeof reason === 'string' && reason in callFailures ? (reason as CallFailure) : 'callee-gone'
}
