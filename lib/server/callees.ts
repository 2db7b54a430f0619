import type { Deadlines } from '../async/deadlines.ts'
import type { Bus, BusEvent } from '../bus/bus.ts'
import type { CallFailure } from '../protocol/wire/failures.ts'
import { sealed } from '../protocol/wire/ids.ts'
import type { Connection } from './connection.ts'
import { eventFrame } from './frames.ts'

/** How long a callee may take to answer. */
export const answerWithinMs = 30_000

type CallEvent = Extract<BusEvent, { type: 'call' }>
type Result = Extract<BusEvent, { type: 'call-answered' }>['result']
type CalleeEvent = Extract<BusEvent, { type: 'call' | 'callee-here' | 'call-dropped' }>

/** The connections of one account at this instance that answer calls. */
export interface CalleeDesk {
  register(connection: Connection, method: string): void
  unregister(connection: Connection, method: string): void
  /** The connection is gone: it answers nothing any more, and its open calls end. */
  drop(connection: Connection): void
  hear(event: CalleeEvent): void
}

export function createCalleeDesk({ bus, answerDeadlines }: { bus: Bus; answerDeadlines: Deadlines }): CalleeDesk {
  const calleeByMethod = new Map<string, Connection>()
  const openCalls = new Map<string, { callee: Connection; end: (result: Result) => void }>()

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
    if (callee.id === call.from) return answer(call, failed('same-connection'))

    const onLimit = () => end(failed('timed-out'))
    const forget = callee.ask('rpc-request', { method: call.method, params: call.params, ...(call.by && { by: call.by }) }, reply =>
      end(resultOf(reply))
    )
    const end = (result: Result) => {
      forget()
      answerDeadlines.end(onLimit)
      openCalls.delete(call.id)
      answer(call, result)
    }
    openCalls.set(call.id, { callee, end })
    answerDeadlines.begin(onLimit)
  }

  function answer(call: CallEvent, result: Result) {
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
      for (const { callee, end } of openCalls.values()) if (callee === connection) end(failed('callee-gone'))
    },
    hear(event) {
      switch (event.type) {
        case 'call':
          return take(event)
        case 'callee-here':
          return yieldTo(event)
        case 'call-dropped':
          openCalls.get(event.id)?.end(failed('internal'))
      }
    }
  }
}

function resultOf(reply: unknown): Result {
  const value = sealed.safeParse(reply)
  return value.success ? { ok: true, value: value.data } : failed('internal')
}

function failed(why: CallFailure): Result {
  return { ok: false, why }
}
