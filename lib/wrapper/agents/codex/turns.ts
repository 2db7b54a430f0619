import type { PlanEntry } from '../../../protocol/sealed/messages.ts'
import type { AgentEvent } from '../agent.ts'
import { type Place, placeOf, type Translator } from './history.ts'
import type { Requests } from './requests.ts'
import type { Item, Notification, ThreadSettings, Turn } from './shapes.ts'

/** The turns of the followed thread, as the server reports them. */
export interface Turns {
  readonly running: string | undefined
  /** Whether the thread has any, and so was recorded. */
  readonly hasAny: boolean
  /** How far the thread was sent. */
  readonly place: Place
  /** Resolves when the current turn has ended. */
  readonly ended: Promise<void>
  /** Follows another thread from this position on. */
  goTo(place: Place): void
  begin(turn: string): void
  end(turn: Pick<Turn, 'id' | 'status' | 'error'>): void
  /** Codex is gone, possibly mid-turn. */
  lose(error: Turn['error']): void
  /** A turn that was read, as far as it has got. */
  tell(turn: Turn): void
  /** The steps of a turn that were running when it was read. */
  tellOpen(turn: Turn): void
  take(notification: Notification): void
}

export function createTurns(deps: {
  emit(event: AgentEvent): void
  translator: Translator
  requests: Requests
  onSettings(settings: ThreadSettings): void
  onEnd(): void
}): Turns {
  const { emit, translator, requests } = deps
  let running: string | undefined
  let last: string | undefined
  let hasAny = false
  let place: Place = { thread: '', turn: undefined, isSent: false }
  let ended = Promise.withResolvers<void>()

  const noteSent = (turn: string, isSent: boolean, isCut = false) => {
    place = { thread: place.thread, turn, isSent, isCut }
    emit({ type: 'history-read', upTo: placeOf(place) })
  }
  const begin = (turn: string) => {
    if (running === turn || last === turn) return
    running = turn
    hasAny = true
    ended = Promise.withResolvers()
    translator.begin(turn)
  }
  const end = (turn: Pick<Turn, 'id' | 'status' | 'error'>) => {
    if (last === turn.id) return
    begin(turn.id)
    requests.closeAll()
    translator.end(turn)
    running = undefined
    last = turn.id
    noteSent(turn.id, true)
    ended.resolve()
    deps.onEnd()
  }
  const takeItem = (turn: string, item: Item | undefined, isWhole: boolean) => {
    begin(turn)
    if (!item) return
    if (!isWhole) {
      translator.started(item)
      return
    }
    translator.completed(item)
    if ('status' in item) requests.stepEnded(item.id, item.status === 'declined')
    if (item.type === 'userMessage') noteSent(turn, false)
  }

  return {
    get running() {
      return running
    },
    get hasAny() {
      return hasAny
    },
    get place() {
      return place
    },
    get ended() {
      return ended.promise
    },
    goTo(from) {
      place = from
      hasAny = from.turn !== undefined
      running = undefined
    },
    begin,
    end,
    lose(error) {
      if (running === undefined) return
      requests.closeAll()
      translator.end({ status: 'failed', error }, true)
      noteSent(running, false, true)
      running = undefined
      ended.resolve()
    },
    tell(turn) {
      for (const item of turn.items) takeItem(turn.id, item, !(item && isUnderWay(item)))
      if (turn.status !== 'inProgress') end(turn)
      else begin(turn.id)
    },
    tellOpen({ id, items }) {
      // It may have ended since.
      if (id !== running) return
      for (const item of items) if (item && isUnderWay(item)) takeItem(id, item, false)
    },
    take({ method, params }) {
      switch (method) {
        case 'turn/started':
          begin(params.turn.id)
          break
        case 'turn/completed':
          end(params.turn)
          break
        case 'item/started':
        case 'item/completed':
          takeItem(params.turnId, params.item, method === 'item/completed')
          break
        case 'item/agentMessage/delta':
        case 'item/plan/delta':
          translator.grew(params.itemId, params.delta, false)
          break
        case 'item/reasoning/summaryTextDelta':
        case 'item/reasoning/textDelta':
          translator.grew(params.itemId, params.delta, true)
          break
        case 'turn/plan/updated':
          emit({ type: 'plan', entries: params.plan.map(planEntry) })
          break
        case 'thread/tokenUsage/updated': {
          const { last, modelContextWindow } = params.tokenUsage
          if (modelContextWindow) emit({ type: 'usage', used: last.totalTokens, size: modelContextWindow })
          break
        }
        case 'thread/name/updated':
          if (params.threadName) emit({ type: 'title', title: params.threadName })
          break
        case 'thread/settings/updated':
          deps.onSettings(params.threadSettings)
          break
        case 'error':
          if (params.willRetry) emit(retryOf(params.error))
          break
        case 'account/rateLimits/updated':
        case 'serverRequest/resolved':
        case 'thread/status/changed':
        case 'thread/started':
          break
      }
    }
  }
}

/** The attempt count is only in its text, and the next attempt's time is not given. */
function retryOf({ message, codexErrorInfo }: { message: string; codexErrorInfo?: unknown }): AgentEvent {
  const [, attempt = 1, of] = /(\d+)\s*\/\s*(\d+)/.exec(message) ?? []
  const info = JSON.stringify(codexErrorInfo ?? '')
  const why = reasons.find(([pattern]) => pattern.test(info))?.[1] ?? 'other'
  return { type: 'retrying', attempt: Number(attempt), ...(of !== undefined && { of: Number(of) }), inMs: 0, why }
}

const reasons = [
  [/serverOverloaded|:(503|529)\b/, 'overloaded'],
  [/usageLimitExceeded|rateLimitExceeded|:429\b/, 'limit'],
  [/unauthorized|:40[13]\b/, 'sign-in'],
  [/httpConnectionFailed|responseStream/, 'unreachable']
] as const

function isUnderWay(item: Item): boolean {
  return 'status' in item && item.status === 'inProgress'
}

function planEntry({ step, status }: { step: string; status: string }): PlanEntry {
  const known = status === 'completed' ? 'completed' : status === 'inProgress' ? 'in_progress' : 'pending'
  return { content: step, status: known }
}
