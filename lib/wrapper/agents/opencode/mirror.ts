import type { AgentEvent, HistoryPosition, TurnEnd } from '../agent.ts'
import type { Waiting } from './conversation.ts'
import { createHelpers, createTranslator, turnEndOf, wasAllowed } from './history.ts'
import type { OpencodeChoices } from './options.ts'
import { createRequests } from './requests.ts'
import type { History, Message, Part, PermissionRequest, QuestionRequest, ServerEvent, Session } from './shapes.ts'

interface MirrorOptions {
  /** Its events, in order. */
  emit(event: AgentEvent): void
  post(path: string, body: object): Promise<unknown>
}

/** Events while nobody listened. */
interface Missed {
  history: History
  isIdle: boolean | undefined
  waiting: Waiting | undefined
}

export type Mirror = ReturnType<typeof createMirror>

/**
 * Converts what an opencode server reports about one conversation and its subagents to agent events; and
 * when its turns end.
 */
export function createMirror({ emit, post }: MirrorOptions) {
  const tell = (event: AgentEvent) => {
    if (event.type === 'prompted') beginTurn()
    emit(event)
  }
  const translator = createTranslator({ emit: tell })
  const helpers = createHelpers(tell)
  const requests = createRequests({ emit: tell, post })
  let conversation = ''
  let options: OpencodeChoices | undefined
  let turn: { hasAnswer: boolean; error: Message['error']; ended: PromiseWithResolvers<void> } | undefined
  let isIdle = true
  let place = 0
  let sentPlace = -1
  let cost = 0
  let title = ''

  const translatorOf = (of: string) => (of === conversation ? translator : helpers.translatorOf(of))

  const tellPlace = () => {
    if (place === sentPlace) return
    sentPlace = place
    const upTo: HistoryPosition = { file: conversation, offset: place }
    emit({ type: 'history-read', upTo })
  }

  const beginTurn = () => {
    turn ??= { hasAnswer: false, error: undefined, ended: Promise.withResolvers() }
  }

  const endTurn = (end: TurnEnd, isLost = false) => {
    if (!turn) return
    const { ended } = turn
    turn = undefined
    requests.closeAll()
    helpers.endAll(isLost)
    if (end.reason !== 'done' && !isLost) translator.breakOff()
    translator.cut(isLost)
    emit({ type: 'turn-ended', ...end })
    ended.resolve()
  }

  /** When a turn is cut off, opencode is idle before it has stored the last of it. */
  const endIfDone = () => {
    if (!turn || !isIdle || translator.isOpen || !(turn.hasAnswer || turn.error)) return
    endTurn(turnEndOf({ error: turn.hasAnswer ? translator.last?.error : turn.error }))
  }

  /** Its person switched to another conversation at the screen. */
  const goOverTo = ({ sessionID, time }: Message) => {
    endTurn({ reason: 'cancelled' })
    conversation = sessionID
    place = time.created - 1
    sentPlace = -1
    emit({ type: 'conversation', id: conversation })
    tellPlace()
  }

  const takeMessage = (info: Message) => {
    const helper = helpers.translatorOf(info.sessionID)
    if (helper) {
      helper.message(info)
      return
    }
    if (info.sessionID !== conversation) {
      if (info.role !== 'user' || !helpers.isOfPerson(info.sessionID)) return
      goOverTo(info)
    }
    translator.message(info)
    if (info.role === 'user') {
      options?.follow(info)
      return
    }
    // opencode also updates messages of earlier turns.
    if (turn && !translator.isOver(info)) turn.hasAnswer = true
    if (info.time.completed === undefined) {
      // The message it answers was sent before it.
      place = Math.max(place, info.time.created - 1)
      tellPlace()
      return
    }
    place = Math.max(place, info.time.created)
    tellUsage(info)
    tellPlace()
    endIfDone()
  }

  const tellUsage = ({ tokens, ...model }: Message) => {
    const size = options?.roomOf(model)
    const used = tokens && tokens.input + tokens.output + tokens.reasoning + tokens.cache.read + tokens.cache.write
    if (used && size) emit({ type: 'usage', used, size, ...(cost > 0 && { cost: { amount: cost, currency: 'USD' } }) })
  }

  const noteSession = (info: Session) => {
    if (info.id !== conversation) return
    cost = info.cost
    // Until a model has found a title, it only has one with its start time.
    if (info.title === title || /^New session\b/.test(info.title)) return
    title = info.title
    emit({ type: 'title', title })
  }

  const ask = (request: PermissionRequest) => {
    if (options?.editsFreely && request.permission === 'edit') {
      void post(`/permission/${request.id}/reply`, { reply: 'once' }).catch(() => {})
      return
    }
    requests.permission(request, request.tool && translatorOf(request.sessionID)?.beginStep(request.tool))
  }

  const askQuestion = (request: QuestionRequest) => {
    if (request.tool) translatorOf(request.sessionID)?.beginStep(request.tool)
    requests.question(request)
  }

  return {
    requests,
    endTurn,
    beginTurn,
    get conversation() {
      return conversation
    },
    /** Resolves when the current turn has ended; undefined if there is none. */
    get turnEnded(): Promise<void> | undefined {
      return turn?.ended.promise
    },
    /** It never started. */
    forgetTurn(): void {
      turn?.ended.resolve()
      turn = undefined
    },
    use(chosen: OpencodeChoices): void {
      options = chosen
    },
    /** Anything before that time was sent, or need not be. */
    follow(id: string, sentUpTo: number): void {
      conversation = id
      place = sentUpTo
      tellPlace()
    },
    deny: (call: string) => (helpers.ofStep(call) ?? translator).deny(call),
    /** The connection to the server was cut: missed events are in its storage. Undefined means unknown. */
    catchUp({ history, isIdle: isIdleNow = isIdle, waiting }: Missed): void {
      isIdle = isIdleNow
      if (waiting)
        requests.keepOnly(new Set([...waiting.permissions, ...waiting.questions].map(({ id }) => id)), call => wasAllowed(call, history))
      for (const { info, parts } of history) {
        if (info.time.created <= place) continue
        // Its content is sent before its end, which may end the turn.
        takeMessage({ ...info, error: undefined, time: { created: info.time.created } })
        for (const part of parts) {
          if (info.error && part === parts.at(-1)) translatorOf(info.sessionID)?.breakOff()
          if (part) translatorOf(part.sessionID)?.part(part)
        }
        if (info.time.completed !== undefined) takeMessage(info)
      }
      waiting?.permissions.forEach(ask)
      waiting?.questions.forEach(askQuestion)
      endIfDone()
    },
    take(event: ServerEvent): void {
      const { type, properties } = event
      switch (type) {
        case 'message.updated':
          takeMessage(properties.info)
          return
        case 'message.part.updated': {
          const { part }: { part: Part } = properties
          translatorOf(part.sessionID)?.part(part)
          return
        }
        case 'message.part.delta':
          if (properties.field === 'text') translatorOf(properties.sessionID)?.delta(properties, properties.delta)
          return
        case 'permission.asked':
          ask(properties)
          return
        case 'permission.replied':
          requests.permissionReplied(properties.requestID, properties.reply)
          return
        case 'question.asked':
          askQuestion(properties)
          return
        case 'question.replied':
          requests.questionReplied(properties.requestID, properties.answers)
          return
        case 'question.rejected':
          requests.questionReplied(properties.requestID, undefined)
          return
        case 'session.created':
          helpers.begin(properties.info, conversation)
          return
        case 'session.updated':
          noteSession(properties.info)
          return
        case 'session.idle':
          if (properties.sessionID !== conversation) helpers.end(properties.sessionID)
          else {
            isIdle = true
            endIfDone()
          }
          return
        case 'session.status':
          if (properties.sessionID !== conversation) return
          isIdle = properties.status.type === 'idle'
          if (properties.status.type === 'retry') emit(retryOf(properties.status))
          return
        case 'session.error':
          if (properties.sessionID !== conversation || !turn) return
          turn.error = properties.error
          translator.breakOff()
          return
        case 'server.connected':
          return
      }
    }
  }
}

/** It gives the reason in words. */
function retryOf({
  message = '',
  attempt = 1,
  next
}: {
  message?: string | undefined
  attempt?: number | undefined
  next?: number | undefined
}): AgentEvent {
  const why = reasons.find(([pattern]) => pattern.test(message))?.[1] ?? 'other'
  return { type: 'retrying', attempt, inMs: Math.max(0, (next ?? 0) - Date.now()), why }
}

const reasons = [
  [/overload/i, 'overloaded'],
  [/limit|too many requests|quota/i, 'limit'],
  [/api key|unauthori[sz]ed|authenticat/i, 'sign-in'],
  [/connect|network|socket|timed? ?out/i, 'unreachable']
] as const
