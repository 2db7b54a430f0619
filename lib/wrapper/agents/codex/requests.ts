import { type Clock, systemClock } from '../../../async/clock.ts'
import type { PermissionChoice } from '../../../protocol/sealed/session.ts'
import * as v from '../../../schema.ts'
import { elicitation } from '../acp/messages.ts'
import { isWebAddress, readForm } from '../acp/requests.ts'
import type { AgentEvent, Answers, QuestionAsk, Step } from '../agent.ts'
import { lastingChoice } from '../grants.ts'
import type { RequestId } from './server.ts'
import { type Asked, requests } from './shapes.ts'
import { askedCommand, askedStep } from './steps.ts'

/** Codex's requests, on its own screen and here at once; the first answer wins. */
export interface Requests {
  /** False if nobody answers this kind of request here. */
  ask(id: RequestId, method: string, params: unknown): boolean
  answer(ask: string, choice: string): boolean
  answerQuestion(ask: string, answers: Answers | undefined): boolean
  /** The server has an answer, ours or another. */
  resolved(id: RequestId): void
  /** Reports what the other answer was. */
  stepEnded(call: string, isDenied: boolean): void
  closeAll(): void
}

interface Permission {
  ask: string
  call: string
  replies: ReadonlyMap<string, unknown>
}

// A no is followed by the end of its step at once; after this the answer was a yes.
const noWithinMs = 250

export function createRequests(deps: {
  emit(event: AgentEvent): void
  reply(id: RequestId, result: unknown): void
  step(call: string): Step | undefined
  clock?: Clock
}): Requests {
  const { emit, reply, clock = systemClock } = deps
  const permissions = new Map<RequestId, Permission>()
  const questions = new Map<RequestId, WaitingQuestion & { ask: string }>()
  /** Answered elsewhere; whether it was a yes shows in a moment. */
  const settling = new Map<string, { call: string; stop(): void }>()

  const close = (ask: string, approved?: boolean) => {
    settling.get(ask)?.stop()
    settling.delete(ask)
    emit({ type: 'permission-closed', ask, ...(approved !== undefined && { approved }) })
  }
  const nameOf = (wish: string, id: RequestId) =>
    [...permissions.values(), ...questions.values()].some(({ ask }) => ask === wish) || settling.has(wish) ? `${wish}:${id}` : wish

  const askPermission = (id: RequestId, wish: string, step: Step, offered: readonly Offer[]) => {
    const ask = nameOf(wish, id)
    permissions.set(id, { ask, call: step.call, replies: new Map(offered.map(({ choice, reply }) => [choice.id, reply])) })
    emit({ type: 'permission-asked', asked: { ask, step, choices: offered.map(({ choice }) => choice) } })
  }

  return {
    ask(id, method, params) {
      // A client that rejoins a thread gets its open requests again.
      if (permissions.has(id) || questions.has(id)) return true
      switch (method) {
        case 'item/commandExecution/requestApproval': {
          const { data } = v.safeParse(requests[method], params)
          if (!data) return false
          const { itemId, approvalId, command, cwd, reason } = data
          const known = deps.step(itemId)
          const step = known && !approvalId ? known : askedCommand(itemId, command ?? reason ?? 'Run a command', cwd ?? undefined)
          askPermission(id, approvalId ?? itemId, withReason(step, reason), commandOffers(data))
          return true
        }
        case 'item/fileChange/requestApproval': {
          const { data } = v.safeParse(requests[method], params)
          if (!data) return false
          const step = deps.step(data.itemId) ?? askedStep(data.itemId, data.reason ?? 'Edit files', {})
          const offers = [decide('accept', 'Allow once'), forSession('files'), decide('decline', 'Deny')]
          askPermission(id, data.itemId, withReason(step, data.reason), offers)
          return true
        }
        case 'item/permissions/requestApproval': {
          const { data } = v.safeParse(requests[method], params)
          if (!data) return false
          const step = askedStep(data.itemId, data.reason ?? 'More permissions', data.permissions)
          askPermission(id, data.itemId, step, grants(data.permissions))
          return true
        }
        default: {
          const question = readQuestion(method, params)
          if (!question) return false
          const ask = nameOf(question.asked.ask, id)
          questions.set(id, { ...question, ask })
          emit({ type: 'question-asked', asked: { ...question.asked, ask } })
          return true
        }
      }
    },

    answer(ask, choice) {
      for (const [id, permission] of permissions) {
        if (permission.ask !== ask || !permission.replies.has(choice)) continue
        permissions.delete(id)
        reply(id, permission.replies.get(choice))
        return true
      }
      return false
    },

    answerQuestion(ask, answers) {
      for (const [id, question] of questions) {
        if (question.ask !== ask) continue
        const result = question.result(answers)
        questions.delete(id)
        reply(id, result)
        return true
      }
      return false
    },

    resolved(id) {
      const permission = permissions.get(id)
      if (permission) {
        permissions.delete(id)
        const { ask, call } = permission
        settling.set(ask, { call, stop: clock.after(noWithinMs, () => close(ask, true)) })
      }
      const question = questions.get(id)
      if (!question) return
      questions.delete(id)
      emit({ type: 'question-closed', ask: question.ask })
    },

    stepEnded(call, isDenied) {
      for (const [ask, settled] of [...settling]) if (settled.call === call) close(ask, !isDenied)
    },

    closeAll() {
      for (const { ask } of permissions.values()) close(ask)
      permissions.clear()
      for (const ask of [...settling.keys()]) close(ask, false)
      for (const { ask } of questions.values()) emit({ type: 'question-closed', ask })
      questions.clear()
    }
  }
}

interface Offer {
  choice: PermissionChoice
  reply: unknown
}

const kinds: Readonly<Record<string, PermissionChoice['kind']>> = {
  accept: 'allow_once',
  decline: 'reject_once'
}

function decide(id: string, label: string, decision: unknown = id): Offer {
  return { choice: { id, label, kind: kinds[id] ?? 'allow_once' }, reply: { decision } }
}

/** Codex does not ask again for exactly these files, or this command. */
function forSession(type: 'files' | 'commands'): Offer {
  const choice = lastingChoice('acceptForSession', { lasts: 'session', what: [{ type, of: [] }] })
  return { choice, reply: { decision: choice.id } }
}

function commandOffers({ availableDecisions }: Asked<'item/commandExecution/requestApproval'>): Offer[] {
  const offered = (availableDecisions ?? ['accept', 'acceptForSession']).flatMap((decision, index): Offer[] => {
    if (decision === 'accept') return [decide('accept', 'Allow once')]
    if (decision === 'acceptForSession') return [forSession('commands')]
    if (typeof decision === 'string') return []
    return amendment(decision, index)
  })
  // The other no, which Codex offers as "cancel", also ends the turn: Stop is for that.
  return [...offered, decide('decline', 'Deny')]
}

const commandRule = v.object({ acceptWithExecpolicyAmendment: v.object({ execpolicy_amendment: v.array(v.string()) }) })
const networkRule = v.object({
  applyNetworkPolicyAmendment: v.object({ network_policy_amendment: v.looseObject({ host: v.string(), action: v.string() }) })
})

function amendment(decision: Record<string, unknown>, index: number): Offer[] {
  const command = v.safeParse(commandRule, decision).data?.acceptWithExecpolicyAmendment.execpolicy_amendment
  if (command) {
    const words = command.length === 3 && /sh$/.test(command[0] ?? '') ? command.slice(2) : command
    const choice = lastingChoice(`rule-${index}`, { lasts: 'always', what: [{ type: 'commands', of: [`${words.join(' ')} *`] }] })
    return [{ choice, reply: { decision } }]
  }
  const network = v.safeParse(networkRule, decision).data?.applyNetworkPolicyAmendment.network_policy_amendment
  if (!network) return []
  const id = `rule-${index}`
  const choice: PermissionChoice =
    network.action === 'allow'
      ? lastingChoice(id, { lasts: 'always', what: [{ type: 'hosts', of: [network.host] }] })
      : { id, label: `Never allow ${network.host}`, kind: 'reject_always' }
  return [{ choice, reply: { decision } }]
}

function grants(permissions: Record<string, unknown>): Offer[] {
  return [
    { choice: { id: 'turn', label: 'Allow for this turn', kind: 'allow_once' }, reply: { permissions, scope: 'turn' } },
    {
      choice: lastingChoice('session', { lasts: 'session', what: [{ type: 'rights', of: [] }] }),
      reply: { permissions, scope: 'session' }
    },
    { choice: { id: 'decline', label: 'Deny', kind: 'reject_once' }, reply: { permissions: {}, scope: 'turn' } }
  ]
}

/** Why it is asked, part of what is shown. */
function withReason(step: Step, reason: string | null | undefined): Step {
  return reason ? { ...step, input: { ...step.input, reason } } : step
}

/** A Codex question that is not a permission, and the conversion of its answers. */
interface WaitingQuestion {
  asked: QuestionAsk
  /** What Codex gets. Throws, with a sentence for the person answering, if an answer is invalid. */
  result(answers: Answers | undefined): unknown
}

/** Undefined for a request that needs no person, or cannot be shown. */
function readQuestion(method: string, params: unknown): WaitingQuestion | undefined {
  switch (method) {
    case 'item/tool/requestUserInput': {
      const { data } = v.safeParse(requests[method], params)
      return data && userInput(data)
    }
    case 'mcpServer/elicitation/request': {
      const { data } = v.safeParse(requests[method], params)
      return data && ofMcp(data)
    }
    default:
      return undefined
  }
}

function userInput({ itemId, questions }: Asked<'item/tool/requestUserInput'>): WaitingQuestion {
  const asked = questions.map(({ id, header, question, isOther, options }) => ({
    id,
    question,
    ...(header && { header }),
    multiSelect: false,
    options: (options ?? []).map(({ label, description }) => ({ value: label, label, ...(description && { description }) })),
    allowsOther: isOther || !options?.length,
    isRequired: false
  }))
  return {
    asked: { ask: itemId, call: itemId, title: questions[0]?.question ?? 'Codex asks', kind: 'form', questions: asked },
    result: answers => ({
      answers: Object.fromEntries(
        Object.entries(answers ?? {}).map(([id, { values, other }]) => [id, { answers: [...values, ...(other ? [other] : [])] }])
      )
    })
  }
}

const declined = { action: 'decline', content: null, _meta: null }

function ofMcp(params: Asked<'mcpServer/elicitation/request'>): WaitingQuestion | undefined {
  const { data } = v.safeParse(elicitation, params)
  if (!data) return undefined
  const about = { ask: `${params.serverName} asks`, title: data.message }
  if (data.mode === 'url') {
    if (!isWebAddress(data.url)) return undefined
    return {
      asked: { ...about, kind: 'link', url: data.url },
      result: answers => (answers ? { action: 'accept', content: null, _meta: null } : declined)
    }
  }
  const form = readForm(data)
  return (
    form && {
      asked: { ...about, kind: 'form', questions: form.questions },
      result: answers => (answers ? { action: 'accept', content: form.content(answers), _meta: null } : declined)
    }
  )
}
