import type { UsageWindow } from '../../../protocol/sealed/session.ts'
import * as v from '../../../schema.ts'

// The part of the app server's protocol that we read (version 2, as `codex app-server generate-ts` prints
// it). Every shape is loose and treats unknown values as absent: the protocol grows with each release.

const text = v.string()
const optionalText = v.fallback(v.nullish(v.string()), undefined)

const fileChange = v.object({
  path: text,
  kind: v.fallback(v.object({ type: text, move_path: optionalText }), { type: 'update', move_path: undefined }),
  diff: text
})

const commandAction = v.looseObject({ type: text, command: optionalText, path: optionalText })

/** One item of a turn. Unknown kinds are left out. */
const item = v.variant('type', [
  v.object({
    type: v.literal('userMessage'),
    id: text,
    clientId: optionalText,
    content: v.array(v.looseObject({ type: text, text: optionalText }))
  }),
  v.object({ type: v.literal('agentMessage'), id: text, text }),
  v.object({ type: v.literal('plan'), id: text, text }),
  v.object({ type: v.literal('reasoning'), id: text, summary: v.fallback(v.array(text), []), content: v.fallback(v.array(text), []) }),
  v.object({
    type: v.literal('commandExecution'),
    id: text,
    command: text,
    cwd: optionalText,
    status: text,
    commandActions: v.fallback(v.array(commandAction), []),
    aggregatedOutput: optionalText,
    exitCode: v.fallback(v.nullish(v.number()), undefined)
  }),
  v.object({ type: v.literal('fileChange'), id: text, changes: v.array(fileChange), status: text }),
  v.object({
    type: v.literal('mcpToolCall'),
    id: text,
    server: text,
    tool: text,
    status: text,
    arguments: v.optional(v.unknown()),
    result: v.fallback(v.nullish(v.looseObject({ content: v.fallback(v.array(v.looseObject({ text: optionalText })), []) })), undefined),
    error: v.fallback(v.nullish(v.looseObject({ message: text })), undefined)
  }),
  v.object({ type: v.literal('webSearch'), id: text, query: optionalText }),
  v.object({ type: v.literal('imageView'), id: text, path: text }),
  v.object({ type: v.literal('enteredReviewMode'), id: text, review: text }),
  v.object({ type: v.literal('exitedReviewMode'), id: text, review: text }),
  v.object({ type: v.literal('contextCompaction'), id: text })
])
export type Item = v.InferOutput<typeof item>

const known = v.fallback(v.optional(item), undefined)

const turn = v.object({
  id: text,
  status: text,
  error: v.fallback(v.nullish(v.object({ message: text })), undefined),
  /** In seconds since 1970. */
  startedAt: v.fallback(v.nullish(v.number()), undefined),
  completedAt: v.fallback(v.nullish(v.number()), undefined),
  items: v.fallback(v.array(known), [])
})
export type Turn = v.InferOutput<typeof turn>

const thread = v.object({
  id: text,
  ephemeral: v.fallback(v.boolean(), false),
  parentThreadId: optionalText,
  model: optionalText,
  reasoningEffort: optionalText
})
export type Thread = v.InferOutput<typeof thread>
export const readThread = v.object({ thread })

const settings = {
  approvalPolicy: v.optional(v.unknown()),
  approvalsReviewer: optionalText,
  model: optionalText
}
const sandbox = v.fallback(v.object({ type: text }), { type: '' })

export const openedThread = v.object({ thread, ...settings, sandbox, reasoningEffort: optionalText })

const threadSettings = v.object({
  ...settings,
  sandboxPolicy: sandbox,
  effort: optionalText,
  collaborationMode: v.fallback(v.optional(v.looseObject({ mode: text })), undefined)
})
export type ThreadSettings = v.InferOutput<typeof threadSettings>

export const turnsPage = v.object({ data: v.array(turn), nextCursor: optionalText })
export const joinedThread = v.object({ initialTurnsPage: v.fallback(v.nullish(turnsPage), undefined) })
export const turnStarted = v.object({ turn: v.object({ id: text }) })

const model = v.object({
  model: text,
  displayName: text,
  description: optionalText,
  hidden: v.fallback(v.boolean(), false),
  supportedReasoningEfforts: v.fallback(v.array(v.object({ reasoningEffort: text, description: optionalText })), []),
  defaultReasoningEffort: optionalText
})
export const modelList = v.object({ data: v.array(model) })
export type Model = v.InferOutput<typeof model>

const rateLimitWindow = v.object({
  usedPercent: v.number(),
  windowDurationMins: v.fallback(v.nullish(v.number()), undefined),
  /** In seconds since 1970. */
  resetsAt: v.fallback(v.nullish(v.number()), undefined)
})
const rateLimits = v.object({
  limitId: optionalText,
  limitName: optionalText,
  primary: v.fallback(v.nullish(rateLimitWindow), undefined),
  secondary: v.fallback(v.nullish(rateLimitWindow), undefined),
  rateLimitReachedType: optionalText
})
export const readRateLimits = v.object({ rateLimits })
type RateLimits = v.InferOutput<typeof rateLimits>

const inThread = { threadId: text }
const inTurn = { ...inThread, turnId: text }

function notificationOf<Name extends string, Params extends v.GenericSchema>(method: Name, params: Params) {
  return v.object({ method: v.literal(method), params })
}

/** What the server sends to everyone, or to the followers of a thread. */
export const notification = v.variant('method', [
  notificationOf('account/rateLimits/updated', readRateLimits),
  notificationOf('thread/started', v.object({ thread })),
  notificationOf('thread/status/changed', v.object({ ...inThread, status: v.object({ type: text }) })),
  notificationOf('thread/name/updated', v.object({ ...inThread, threadName: optionalText })),
  notificationOf('thread/settings/updated', v.object({ ...inThread, threadSettings })),
  notificationOf(
    'thread/tokenUsage/updated',
    v.object({
      ...inThread,
      tokenUsage: v.object({ last: v.object({ totalTokens: v.number() }), modelContextWindow: v.nullish(v.number()) })
    })
  ),
  notificationOf('turn/started', v.object({ ...inThread, turn })),
  notificationOf('turn/completed', v.object({ ...inThread, turn })),
  notificationOf('turn/plan/updated', v.object({ ...inTurn, plan: v.array(v.object({ step: text, status: text })) })),
  notificationOf('item/started', v.object({ ...inTurn, item: known })),
  notificationOf('item/completed', v.object({ ...inTurn, item: known })),
  notificationOf('item/agentMessage/delta', v.object({ ...inTurn, itemId: text, delta: text })),
  notificationOf('item/plan/delta', v.object({ ...inTurn, itemId: text, delta: text })),
  notificationOf(
    'item/reasoning/summaryTextDelta',
    v.object({ ...inTurn, itemId: text, delta: text, summaryIndex: v.fallback(v.number(), 0) })
  ),
  notificationOf('item/reasoning/textDelta', v.object({ ...inTurn, itemId: text, delta: text, contentIndex: v.fallback(v.number(), 0) })),
  notificationOf(
    'error',
    v.object({
      ...inTurn,
      willRetry: v.fallback(v.boolean(), false),
      error: v.object({ message: text, codexErrorInfo: v.optional(v.unknown()) })
    })
  ),
  notificationOf('serverRequest/resolved', v.object({ ...inThread, requestId: v.union([text, v.number()]) }))
])
export type Notification = v.InferOutput<typeof notification>

const asked = { ...inTurn, itemId: text }
const decision = v.union([text, v.record(text, v.unknown())])

export const requests = {
  'item/commandExecution/requestApproval': v.object({
    ...asked,
    approvalId: optionalText,
    reason: optionalText,
    command: optionalText,
    cwd: optionalText,
    availableDecisions: v.fallback(v.nullish(v.array(decision)), undefined)
  }),
  'item/fileChange/requestApproval': v.object({ ...asked, reason: optionalText }),
  'item/permissions/requestApproval': v.object({ ...asked, reason: optionalText, permissions: v.record(text, v.unknown()) }),
  'item/tool/requestUserInput': v.object({
    ...asked,
    questions: v.array(
      v.object({
        id: text,
        header: optionalText,
        question: text,
        isOther: v.fallback(v.boolean(), false),
        options: v.fallback(v.nullish(v.array(v.object({ label: text, description: optionalText }))), undefined)
      })
    )
  }),
  'mcpServer/elicitation/request': v.looseObject({ ...inThread, serverName: text, mode: text, message: text })
}
export type Asked<Name extends keyof typeof requests> = v.InferOutput<(typeof requests)[Name]>

/** The limit windows of Codex's account. It counts some models separately, and names those. */
export function codexWindows({ limitId, limitName, primary, secondary, rateLimitReachedType }: RateLimits): UsageWindow[] {
  const of = limitId == null || limitId === 'codex' ? undefined : (limitName ?? limitId)
  return [primary, secondary].flatMap(window => {
    if (!window?.windowDurationMins) return []
    const { windowDurationMins: minutes, usedPercent, resetsAt } = window
    return {
      minutes,
      ...(of !== undefined && { of }),
      usedPercent: Math.round(usedPercent),
      ...(resetsAt != null && { resetsAt: resetsAt * 1000 }),
      // It says that one is exceeded, but not which.
      isReached: usedPercent >= 100 && rateLimitReachedType != null
    }
  })
}
