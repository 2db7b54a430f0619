import type { Clock } from '../../async/clock.ts'
import type { Deadlines } from '../../async/deadlines.ts'
import type { Bus, BusEvent, Topic } from '../../bus/bus.ts'
import type { CallFailure } from '../../protocol/wire/failures.ts'
import { sealed } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import type { Connection } from './connection.ts'
import { eventFrame } from './frames.ts'

/** How long a callee may take to answer. */
export const answerWithinMs = 30_000

type CallEvent = Extract<BusEvent, { type: 'call' }>
type Result = Extract<BusEvent, { type: 'call-answered' }>['result']
type Announcement = Extract<BusEvent, { type: 'callee-here' }>
type CalleeEvent = Extract<BusEvent, { type: 'call' | 'callee-here' | 'call-dropped' }>

/** The connections of one account at this instance that answer calls. */
export interface CalleeRegistry {
  /**
   * From now on the connection answers calls of the method, and the previous one, on any instance, no
   * longer does.
   */
  register(connection: Connection, method: string): void
  unregister(connection: Connection, method: string): void
  /** The connection closed: it answers nothing any more, and its open calls end. */
  drop(connection: Connection): void
  hear(event: CalleeEvent): void
}

interface Callee {
  readonly connection: Connection
  /** Orders registrations of a method across all instances; the connection's id decides between equal ones. */
  readonly stamp: number
  readonly since: number
}

/**
 * The calls that ended here, each remembered for at least as long as an answer may take. In two sets, of which the older is
 * dropped as a whole: an entry and a deadline for each call would outlive many garbage collections.
 */
export class EndedCalls {
  readonly #deadlines: Deadlines
  #older = new Set<string>()
  #newer = new Set<string>()

  /** `deadlines` of this length. */
  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  add(id: string): void {
    if (this.#newer.size === 0 && this.#older.size === 0) this.#deadlines.begin(this.#age)
    this.#newer.add(id)
  }

  has(id: string): boolean {
    return this.#newer.has(id) || this.#older.has(id)
  }

  readonly #age = (): void => {
    this.#older = this.#newer
    this.#newer = new Set()
    if (this.#older.size > 0) this.#deadlines.begin(this.#age)
  }
}

export function createCalleeRegistry({
  bus,
  topic,
  instance,
  clock,
  answerDeadlines,
  endedCalls
}: {
  bus: Bus
  topic: Topic
  instance: string
  clock: Pick<Clock, 'now'>
  answerDeadlines: Deadlines
  endedCalls: EndedCalls
}): CalleeRegistry {
  const calleeByMethod = new Map<string, Callee>()
  const openCalls = new Map<string, { callee: Connection; end: (result: Result) => void }>()
  /** The highest stamp assigned or received. */
  let lastStamp = 0

  function assign(method: string, connection: Connection, since: number) {
    lastStamp += 1
    calleeByMethod.set(method, { connection, stamp: lastStamp, since })
  }

  function announce(method: string) {
    const callee = calleeByMethod.get(method)
    if (!callee) return
    const { connection, stamp, since } = callee
    bus.publish(topic, { type: 'callee-here', method, connection: connection.id, stamp, heldForMs: clock.now() - since })
  }

  function release(connection: Connection, method: string) {
    calleeByMethod.delete(method)
    connection.send(eventFrame('rpc-unregistered', { method }))
  }

  // The newest registration wins wherever it was made; after a half-open connection the older one is the
  // dead one. If two cross on the bus, both ends must keep the same one, so only stamps decide which goes.
  function resolveConflict(other: Announcement) {
    lastStamp = Math.max(lastStamp, other.stamp)
    const own = calleeByMethod.get(other.method)
    if (!own || own.connection.id === other.connection) return
    if (!isAbove(other, own)) {
      // It was made without knowledge of this one; its own instance finds out whether it is the newer one.
      announce(other.method)
    } else if (clock.now() - own.since < other.heldForMs) {
      assign(other.method, own.connection, own.since)
      announce(other.method)
    } else release(own.connection, other.method)
  }

  function accept(call: CallEvent) {
    const callee = calleeByMethod.get(call.method)?.connection
    // A caller that learns late that its call was accepted asks again; it runs once.
    if (!callee || openCalls.has(call.id) || endedCalls.has(call.id)) return
    // Its parameters are not retained here while the callee works.
    const { id, replyTo, from } = call
    bus.publish(replyTo, { type: 'call-taken', id, instance })
    if (callee.id === from) return answer(replyTo, id, failed('same-connection'))

    const onLimit = () => end(failed('timed-out'))
    const forget = callee.ask('rpc-request', { method: call.method, ...(call.by && { by: call.by }), params: call.params }, reply =>
      end(resultOf(reply))
    )
    const end = (result: Result) => {
      forget()
      answerDeadlines.end(onLimit)
      openCalls.delete(id)
      endedCalls.add(id)
      answer(replyTo, id, result)
    }
    openCalls.set(id, { callee, end })
    answerDeadlines.begin(onLimit)
  }

  function answer(replyTo: Topic, id: string, result: Result) {
    bus.publish(replyTo, { type: 'call-answered', id, result })
  }

  return {
    register(connection, method) {
      const before = calleeByMethod.get(method)?.connection
      if (before && before !== connection) release(before, method)
      assign(method, connection, clock.now())
      connection.send(eventFrame('rpc-registered', { method }))
      announce(method)
    },
    unregister(connection, method) {
      if (calleeByMethod.get(method)?.connection === connection) calleeByMethod.delete(method)
    },
    drop(connection) {
      for (const [method, callee] of calleeByMethod) if (callee.connection === connection) calleeByMethod.delete(method)
      for (const { callee, end } of openCalls.values()) if (callee === connection) end(failed('callee-gone'))
    },
    hear(event) {
      switch (event.type) {
        case 'call':
          return accept(event)
        case 'callee-here':
          return resolveConflict(event)
        case 'call-dropped':
          openCalls.get(event.id)?.end(failed('internal'))
      }
    }
  }
}

function isAbove(one: Announcement, { stamp, connection }: Callee): boolean {
  return one.stamp === stamp ? one.connection > connection.id : one.stamp > stamp
}

function resultOf(reply: unknown): Result {
  const value = v.safeParse(sealed, reply)
  return value.success ? { ok: true, value: value.data } : failed('internal')
}

function failed(why: CallFailure): Result {
  return { ok: false, why }
}
