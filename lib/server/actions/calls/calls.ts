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

/** How long a call waits for somebody to register its method: the gap of a reconnect. */
const graceMs = 15_000
const answerWithinMs = 30_000
/** How long a call waits for the bus to take its listener before it goes out without one. */
const listenWithinMs = 2_000
/** How long a callee may still answer what it has taken once the server ends. */
const lastAnswerMs = 2_000
/** What the parameters of all calls that no callee has taken yet may hold in memory; those of one account half of it. */
const mostParamsBytes = 64 * 1024 * 1024

type CallResult = { ok: true; value: Sealed } | { ok: false; why: CallFailure }

export interface Calls {
  /**
   * Resolves once, always: with the answer, or why there is none. Aborting the signal ends the wait. The parameters are
   * dropped from `ask` once somebody has taken the call; who asks must not keep them either.
   */
  call(caller: Caller, ask: { method: string; params: RpcParams; from: ConnectionId | undefined; signal: AbortSignal }): Promise<CallResult>
  /** The server ends: calls that no callee has taken are told to try again, and those taken are answered soon or not at all. */
  end(): void
  close(): Promise<void>
}

type Ask = Parameters<Calls['call']>[1]

interface Waiting {
  taken: boolean
  /** Somebody has taken the call: its parameters are needed no more. */
  onTaken(): void
  settle(result: CallResult): void
}

/**
 * Calls between the clients of an account, wherever they are connected: the call goes out on the account's topic, and the
 * instance that holds the newest registration of the method answers to this instance's own.
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
  /** Of one token over HTTP, which may ask again when it is told that there are too many. */
  const seats = new Seats(mostCallsInFlight)
  const queue = new CallQueue(clock)
  const paramsBudget = new Budget(mostParamsBytes)
  const listens = new Deadlines(clock, listenWithinMs)
  const graces = new Deadlines(clock, graceMs)
  const limits = new Deadlines(clock, graceMs + answerWithinMs)
  let isEnding = false
  let cancelLast = () => {}
  const unsubscribe = await bus.subscribe(replyTo, event => settle(event))

  function settle(event: BusEvent) {
    if (event.type === 'call-taken') {
      const waiting = waitingById.get(event.id)
      if (!waiting) return
      waiting.taken = true
      waiting.onTaken()
    }
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
      // It may have gone while it waited, and all that waited with it.
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
      // Also a listener that the bus did not let go asks for nothing that nobody waits for.
      if (!waitingById.has(id)) return
      isAsked = true
      bus.publish(topic, { type: 'call', id, replyTo, from, by, method, params: asked.params })
    }
    const askFirst = () => !isAsked && ask()
    const waiting: Waiting = { taken: false, onTaken: letGo, settle: resolve }
    waitingById.set(id, waiting)
    const onGrace = () => !waiting.taken && resolve(notAvailable)
    const onLimit = () => resolve({ ok: false, why: 'timed-out' })
    graces.begin(onGrace)
    limits.begin(onLimit)
    const hangUp = () => resolve({ ok: false, why: 'internal' })
    signal.addEventListener('abort', hangUp, { once: true })
    if (signal.aborted) hangUp()
    const listening = listen(topic, event => {
      if (event.type === 'callee-here' && event.method === method && !waiting.taken) ask()
    })
    listens.begin(askFirst)
    if (!signal.aborted) void listening.then(askFirst)

    const result = await promise
    metrics.callEnded(result.ok ? 'answered' : result.why)
    waitingById.delete(id)
    listens.end(askFirst)
    graces.end(onGrace)
    limits.end(onLimit)
    signal.removeEventListener('abort', hangUp)
    // The callee may still be at it; whatever it says later is dropped.
    if (!result.ok) bus.publish(topic, { type: 'call-dropped', id })
    void listening.then(unlisten => unlisten()).catch(onError)
    return result
  }

  // Only a callee that comes while the call waits is missed without a listener.
  async function listen(topic: Topic, listener: (event: BusEvent) => void): Promise<() => Promise<void>> {
    try {
      return await bus.subscribe(topic, listener)
    } catch (error) {
      onError(error)
      return async () => {}
    }
  }

  return {
    call,
    end() {
      isEnding = true
      queue.close()
      for (const waiting of waitingById.values()) if (!waiting.taken) waiting.settle(notAvailable)
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
      await unsubscribe()
    }
  }
}

/** Clients try again. */
const notAvailable: CallResult = { ok: false, why: 'not-available' }

/** What an object or a list takes besides what is in it, and each of its places. */
const headBytes = 64
const placeBytes = 32

/** About so many bytes of memory: an empty object is 2 bytes of text, and takes many times as much. */
function sizeOf(params: unknown): number {
  if (typeof params === 'string') return params.length
  if (typeof params !== 'object' || params === null) return 0
  let size = headBytes
  if (Array.isArray(params)) for (const item of params) size += placeBytes + sizeOf(item)
  else for (const [key, value] of Object.entries(params)) size += placeBytes + key.length + sizeOf(value)
  return size
}
