import { Deadlines } from '../../../async/deadlines.ts'
import { accountTopic, type BusEvent, instanceTopic, type Topic } from '../../../bus/bus.ts'
import type { RpcParams } from '../../../protocol/wire/events.ts'
import type { CallFailure } from '../../../protocol/wire/failures.ts'
import type { ConnectionId, Sealed } from '../../../protocol/wire/ids.ts'
import { Budget } from '../../budget.ts'
import type { Caller, Deps } from '../../deps.ts'
import { Seats } from '../../limits.ts'
import type { Metrics } from '../../watch/metrics.ts'
import { CallQueue, mostCallsInFlight } from './call-queue.ts'
import { CalleeArrivals } from './callee-arrivals.ts'
import { CalleeInstances } from './callee-instances.ts'

/** How long a call waits for its method to be registered: the gap of a reconnect. */
const graceMs = 15_000
const answerWithinMs = 30_000
/** How long a call waits for the bus to confirm its subscription before it is sent without one. */
const listenWithinMs = 2_000
/** How long a callee may still answer what it has taken once the server ends. */
const lastAnswerMs = 2_000
/** The memory for parameters of all calls not yet accepted by a callee; one account gets half of it. */
const mostParamsBytes = 64 * 1024 * 1024

type CallResult = { ok: true; value: Sealed } | { ok: false; why: CallFailure }

export interface Calls {
  /**
   * Always resolves exactly once: with the answer, or why there is none. Aborting the signal ends the wait.
   * The parameters are removed from `ask` once a callee has accepted the call; the caller must not retain
   * them either.
   */
  call(caller: Caller, ask: { method: string; params: RpcParams; from: ConnectionId | undefined; signal: AbortSignal }): Promise<CallResult>
  /** The server ends: calls that no callee has taken are told to try again, and those taken are answered soon or not at all. */
  end(): void
  close(): Promise<void>
}

type Ask = Parameters<Calls['call']>[1]

interface Waiting {
  readonly topic: Topic
  /** The instance whose callee has the call. */
  takenBy: string | undefined
  /** A callee has accepted the call: its parameters are no longer needed. */
  onTaken(instance: string): void
  settle(result: CallResult): void
}

/**
 * Calls between the clients of an account, wherever they are connected: the call is published on the
 * account's topic, and the instance with the newest registration of the method answers on this instance's
 * own topic.
 */
export async function createCalls(
  {
    bus,
    clock,
    newId,
    metrics,
    onError
  }: Pick<Deps, 'bus' | 'clock' | 'newId'> & { metrics: Pick<Metrics, 'callEnded'>; onError: (error: unknown) => void },
  instance: string
): Promise<Calls> {
  const replyTo = instanceTopic(instance)
  const waitingById = new Map<string, Waiting>()
  /** For one token over HTTP, which may retry when told that there are too many. */
  const seats = new Seats(mostCallsInFlight)
  const queue = new CallQueue(clock)
  const paramsBudget = new Budget(mostParamsBytes)
  const arrivals = new CalleeArrivals(bus, clock, onError)
  const listens = new Deadlines(clock, listenWithinMs)
  const graces = new Deadlines(clock, graceMs)
  const limits = new Deadlines(clock, graceMs + answerWithinMs)
  let isEnding = false
  let cancelLast = () => {}
  const instances = new CalleeInstances(bus, clock, instance)
  const unsubscribe = await bus.subscribe(replyTo, event => settle(event))
  // The call, or that it was taken or answered, may be among what was lost. It may have run, so it is not asked again.
  const stopHearingLosses = bus.onLost(lost => {
    for (const { topic, takenBy, settle } of waitingById.values())
      if (takenBy !== instance && (lost === undefined || lost === topic || lost === replyTo)) settle({ ok: false, why: 'callee-gone' })
  })

  function settle(event: BusEvent) {
    if (event.type === 'call-taken') {
      const waiting = waitingById.get(event.id)
      if (waiting && waiting.takenBy === undefined) waiting.onTaken(event.instance)
    }
    instances.hear(event)
    if (event.type === 'call-answered') waitingById.get(event.id)?.settle(event.result)
  }

  async function call(caller: Caller, ask: Ask): Promise<CallResult> {
    if (isEnding) return notAvailable
    const share = paramsBudget.share(caller.account)
    if (!share.take(sizeOf(ask.params))) return { ok: false, why: 'too-many' }
    const letGo = () => {
      ask.params = undefined
      share.giveBack()
    }
    try {
      if (ask.from !== undefined) return await runInTurn(ask.from, caller, ask, letGo)
      if (!seats.take(caller.token)) return { ok: false, why: 'too-many' }
      return await run(caller, ask, letGo).finally(() => seats.leave(caller.token))
    } finally {
      letGo()
    }
  }

  async function runInTurn(connection: ConnectionId, caller: Caller, ask: Ask, letGo: () => void): Promise<CallResult> {
    const turn = await queue.enter(connection)
    if (turn !== 'go') return isEnding ? notAvailable : { ok: false, why: turn }
    try {
      // The connection may have closed while the call waited, and with it all its waiting calls.
      return ask.signal.aborted ? { ok: false, why: 'internal' } : await run(caller, ask, letGo)
    } finally {
      queue.leave(connection)
    }
  }

  async function run(caller: Caller, asked: Ask, letGo: () => void): Promise<CallResult> {
    const { method, from, signal } = asked
    const id = newId()
    const topic = accountTopic(caller.account)
    const { promise, resolve } = Promise.withResolvers<CallResult>()
    const by = caller.device ?? undefined
    let isAsked = false
    const ask = () => {
      // Even if the bus did not remove the listener, calls that nobody waits for are not repeated.
      if (!waitingById.has(id)) return
      isAsked = true
      bus.publish(topic, { type: 'call', id, replyTo, from, by, method, params: asked.params })
    }
    const askFirst = () => !isAsked && ask()
    let stopWatching = () => {}
    const onTaken = (by: string) => {
      waiting.takenBy = by
      letGo()
      stopWatching = instances.watch(by, () => resolve({ ok: false, why: 'callee-gone' }))
    }
    const waiting: Waiting = { topic, takenBy: undefined, onTaken, settle: resolve }
    waitingById.set(id, waiting)
    const onGrace = () => waiting.takenBy === undefined && resolve(notAvailable)
    const onLimit = () => resolve({ ok: false, why: 'timed-out' })
    limits.begin(onLimit)
    const hangUp = () => resolve({ ok: false, why: 'internal' })
    signal.addEventListener('abort', hangUp, { once: true })
    const arrival = arrivals.await(topic, method, () => waiting.takenBy === undefined && ask())
    if (signal.aborted) hangUp()
    else if (arrival.isOpen) ask()
    else {
      listens.begin(askFirst)
      void arrival.subscribed.then(askFirst)
    }
    // A callee at this instance has taken it by now.
    if (waiting.takenBy === undefined) graces.begin(onGrace)

    const result = await promise
    metrics.callEnded(result.ok ? 'answered' : result.why)
    waitingById.delete(id)
    stopWatching()
    listens.end(askFirst)
    graces.end(onGrace)
    limits.end(onLimit)
    signal.removeEventListener('abort', hangUp)
    // The callee may still be working; its late answer is dropped.
    if (!result.ok) bus.publish(topic, { type: 'call-dropped', id })
    arrival.end()
    return result
  }

  return {
    call,
    end() {
      isEnding = true
      queue.close()
      for (const waiting of waitingById.values()) if (waiting.takenBy === undefined) waiting.settle(notAvailable)
      cancelLast = clock.after(lastAnswerMs, () => {
        for (const waiting of waitingById.values()) waiting.settle({ ok: false, why: 'callee-gone' })
      })
    },
    async close() {
      cancelLast()
      queue.close()
      for (const waiting of waitingById.values()) waiting.settle({ ok: false, why: 'internal' })
      listens.close()
      graces.close()
      limits.close()
      arrivals.close()
      instances.close()
      stopHearingLosses()
      await unsubscribe()
    }
  }
}

/** Clients try again. */
const notAvailable: CallResult = { ok: false, why: 'not-available' }

/** The overhead of an object or list, and of each of its slots. */
const headBytes = 64
const placeBytes = 32

/** Approximate memory: an empty object is 2 bytes of text, and uses many times as much. */
function sizeOf(params: unknown): number {
  if (typeof params === 'string') return params.length
  if (typeof params !== 'object' || params === null) return 0
  let size = headBytes
  if (Array.isArray(params)) for (const item of params) size += placeBytes + sizeOf(item)
  else for (const [key, value] of Object.entries(params)) size += placeBytes + key.length + sizeOf(value)
  return size
}
