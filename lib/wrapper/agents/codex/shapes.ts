import * as z from 'zod'
import type { UsageWindow } from '../../../protocol/sealed/session.ts'

// The part of the app server's protocol that we read (version 2, as `codex app-server generate-ts` prints
// it). Every shape is loose and treats unknown values as absent: the protocol grows with each release.

const text = z.string()
const optionalText = z.string().nullish().catch(undefined)

const fileChange = z.object({
  path: text,
  kind: z.object({ type: text, move_path: optionalText }).catch({ type: 'update', move_path: undefined }),
  diff: text
})

const commandAction = z.looseObject({ type: text, command: optionalText, path: optionalText })

/** One item of a turn. Unknown kinds are left out. */
const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('userMessage'),
    id: text,
    clientId: optionalText,
    content: z.array(z.looseObject({ type: text, text: optionalText }))
  }),
  z.object({ type: z.literal('agentMessage'), id: text, text }),
  z.object({ type: z.literal('plan'), id: text, text }),
  z.object({ type: z.literal('reasoning'), id: text, summary: z.array(text).catch([]), content: z.array(text).catch([]) }),
  z.object({
    type: z.literal('commandExecution'),
    id: text,
    command: text,
    cwd: optionalText,
    status: text,
    commandActions: z.array(commandAction).catch([]),
    aggregatedOutput: optionalText,
    exitCode: z.number().nullish().catch(undefined)
  }),
  z.object({ type: z.literal('fileChange'), id: text, changes: z.array(fileChange), status: text }),
  z.object({
    type: z.literal('mcpToolCall'),
    id: text,
    server: text,
    tool: text,
    status: text,
    arguments: z.unknown().optional(),
    result: z
      .looseObject({ content: z.array(z.looseObject({ text: optionalText })).catch([]) })
      .nullish()
      .catch(undefined),
    error: z.looseObject({ message: text }).nullish().catch(undefined)
  }),
  z.object({ type: z.literal('webSearch'), id: text, query: optionalText }),
  z.object({ type: z.literal('imageView'), id: text, path: text }),
  z.object({ type: z.literal('enteredReviewMode'), id: text, review: text }),
  z.object({ type: z.literal('exitedReviewMode'), id: text, review: text }),
  z.object({ type: z.literal('contextCompaction'), id: text })
])
export type Item = z.infer<typeof item>

const known = item.optional().catch(undefined)

const turn = z.object({
  id: text,
  status: text,
  error: z.object({ message: text }).nullish().catch(undefined),
  /** In seconds since 1970. */
  startedAt: z.number().nullish().catch(undefined),
  completedAt: z.number().nullish().catch(undefined),
  items: z.array(known).catch([])
})
export type Turn = z.infer<typeof turn>

const thread = z.object({
  id: text,
  ephemeral: z.boolean().catch(false),
  parentThreadId: optionalText,
  model: optionalText,
  reasoningEffort: optionalText
})
export type Thread = z.infer<typeof thread>
export const readThread = z.object({ thread })

const settings = {
  approvalPolicy: z.unknown().optional(),
  approvalsReviewer: optionalText,
  model: optionalText
}
const sandbox = z.object({ type: text }).catch({ type: '' })

export const openedThread = z.object({ thread, ...settings, sandbox, reasoningEffort: optionalText })

const threadSettings = z.object({
  ...settings,
  sandboxPolicy: sandbox,
  effort: optionalText,
  collaborationMode: z.looseObject({ mode: text }).optional().catch(undefined)
})
export type ThreadSettings = z.infer<typeof threadSettings>

export const turnsPage = z.object({ data: z.array(turn), nextCursor: optionalText })
export const joinedThread = z.object({ initialTurnsPage: turnsPage.nullish().catch(undefined) })
export const turnStarted = z.object({ turn: z.object({ id: text }) })

const model = z.object({
  model: text,
  displayName: text,
  description: optionalText,
  hidden: z.boolean().catch(false),
  supportedReasoningEfforts: z.array(z.object({ reasoningEffort: text, description: optionalText })).catch([]),
  defaultReasoningEffort: optionalText
})
export const modelList = z.object({ data: z.array(model) })
export type Model = z.infer<typeof model>

const rateLimitWindow = z.object({
  usedPercent: z.number(),
  windowDurationMins: z.number().nullish().catch(undefined),
  /** In seconds since 1970. */
  resetsAt: z.number().nullish().catch(undefined)
})
const rateLimits = z.object({
  limitId: optionalText,
  limitName: optionalText,
  primary: rateLimitWindow.nullish().catch(undefined),
  secondary: rateLimitWindow.nullish().catch(undefined),
  rateLimitReachedType: optionalText
})
export const readRateLimits = z.object({ rateLimits })
type RateLimits = z.infer<typeof rateLimits>

const inThread = { threadId: text }
const inTurn = { ...inThread, turnId: text }

function told<Name extends string, Params extends z.ZodType>(method: Name, params: Params) {
  return z.object({ method: z.literal(method), params })
}

/** What the server sends to everyone, or to the followers of a thread. */
export const notification = z.discriminatedUnion('method', [
  told('account/rateLimits/updated', readRateLimits),
  told('thread/started', z.object({ thread })),
  told('thread/status/changed', z.object({ ...inThread, status: z.object({ type: text }) })),
  told('thread/name/updated', z.object({ ...inThread, threadName: optionalText })),
  told('thread/settings/updated', z.object({ ...inThread, threadSettings })),
  told(
    'thread/tokenUsage/updated',
    z.object({
      ...inThread,
      tokenUsage: z.object({ last: z.object({ totalTokens: z.number() }), modelContextWindow: z.number().nullish() })
    })
  ),
  told('turn/started', z.object({ ...inThread, turn })),
  told('turn/completed', z.object({ ...inThread, turn })),
  told('turn/plan/updated', z.object({ ...inTurn, plan: z.array(z.object({ step: text, status: text })) })),
  told('item/started', z.object({ ...inTurn, item: known })),
  told('item/completed', z.object({ ...inTurn, item: known })),
  told('item/agentMessage/delta', z.object({ ...inTurn, itemId: text, delta: text })),
  told('item/plan/delta', z.object({ ...inTurn, itemId: text, delta: text })),
  told('item/reasoning/summaryTextDelta', z.object({ ...inTurn, itemId: text, delta: text, summaryIndex: z.number().catch(0) })),
  told('item/reasoning/textDelta', z.object({ ...inTurn, itemId: text, delta: text, contentIndex: z.number().catch(0) })),
  told(
    'error',
    z.object({ ...inTurn, willRetry: z.boolean().catch(false), error: z.object({ message: text, codexErrorInfo: z.unknown().optional() }) })
  ),
  told('serverRequest/resolved', z.object({ ...inThread, requestId: z.union([text, z.number()]) }))
])
export type Notification = z.infer<typeof notification>

const asked = { ...inTurn, itemId: text }
const decision = z.union([text, z.record(text, z.unknown())])

export const requests = {
  'item/commandExecution/requestApproval': z.object({
    ...asked,
    approvalId: optionalText,
    reason: optionalText,
    command: optionalText,
    cwd: optionalText,
    availableDecisions: z.array(decision).nullish().catch(undefined)
  }),
  'item/fileChange/requestApproval': z.object({ ...asked, reason: optionalText }),
  'item/permissions/requestApproval': z.object({ ...asked, reason: optionalText, permissions: z.record(text, z.unknown()) }),
  'item/tool/requestUserInput': z.object({
    ...asked,
    questions: z.array(
      z.object({
        id: text,
        header: optionalText,
        question: text,
        isOther: z.boolean().catch(false),
        options: z
          .array(z.object({ label: text, description: optionalText }))
          .nullish()
          .catch(undefined)
      })
    )
  }),
  'mcpServer/elicitation/request': z.looseObject({ ...inThread, serverName: text, mode: text, message: text })
}
export type Asked<Name extends keyof typeof requests> = z.infer<(typeof requests)[Name]>

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
