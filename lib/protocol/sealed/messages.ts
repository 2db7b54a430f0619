import * as v from '../../schema.ts'
import { sealedBy, sealFault } from './sealed-for.ts'

/** Token counts of a turn, as reported by the agent. */
export const usage = v.looseObject({
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_creation_input_tokens: v.optional(v.number()),
  cache_read_input_tokens: v.optional(v.number()),
  context_window: v.optional(v.number()),
  /** Ours: the cost of the whole conversation so far, as reported by the agent. */
  cost: v.fallback(v.optional(v.looseObject({ amount: v.number(), currency: v.string() })), undefined)
})

/** The content of a step beyond its arguments. Paths are unchanged from the agent; `oldText` null means a new file. */
export const stepContent = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('diff'), path: v.string(), oldText: v.nullable(v.string()), newText: v.string() })
])
export const stepKind = v.picklist(['read', 'search', 'edit', 'delete', 'move', 'execute', 'fetch', 'think', 'plan', 'other'])
export const stepStatus = v.picklist(['completed', 'failed', 'denied', 'cancelled'])
export const planEntry = v.object({
  content: v.string(),
  status: v.picklist(['pending', 'in_progress', 'completed']),
  priority: v.optional(v.string())
})

/** One event in a session. Existing apps ignore fields and kinds marked as ours. */
export const sessionEvent = v.variant('t', [
  /** `cut` is ours: the agent ended at this point of the text, and does not have it itself. */
  v.looseObject({
    t: v.literal('text'),
    text: v.string(),
    thinking: v.optional(v.boolean()),
    cut: v.fallback(v.optional(v.boolean()), undefined)
  }),
  /** `fault` is ours: the text says the same. */
  v.looseObject({ t: v.literal('service'), text: v.string(), fault: v.fallback(v.optional(sealFault), undefined) }),
  /** `kind`, `locations` and `content` are ours. */
  v.looseObject({
    t: v.literal('tool-call-start'),
    call: v.string(),
    name: v.string(),
    title: v.string(),
    description: v.string(),
    args: v.record(v.string(), v.unknown()),
    kind: v.fallback(v.optional(stepKind), undefined),
    locations: v.fallback(v.optional(v.array(v.string())), undefined),
    content: v.fallback(v.optional(v.array(stepContent)), undefined)
  }),
  /** `status` and `content` are ours; existing wrappers report no result. */
  v.looseObject({
    t: v.literal('tool-call-end'),
    call: v.string(),
    status: v.fallback(v.optional(stepStatus), undefined),
    content: v.fallback(v.optional(v.array(stepContent)), undefined)
  }),
  v.looseObject({
    t: v.literal('file'),
    ref: v.string(),
    name: v.string(),
    size: v.number(),
    /** Ours: the nonce of its seal, in base64; a file under this ref with another nonce is a different one. */
    seal: v.fallback(v.optional(v.string()), undefined),
    mimeType: v.optional(v.string()),
    image: v.optional(v.looseObject({ width: v.number(), height: v.number(), thumbhash: v.optional(v.string()) }))
  }),
  v.looseObject({ t: v.literal('turn-start') }),
  v.looseObject({ t: v.literal('turn-end'), status: v.picklist(['completed', 'failed', 'cancelled']) }),
  v.looseObject({ t: v.literal('start'), title: v.optional(v.string()) }),
  v.looseObject({ t: v.literal('stop') }),
  /** Ours, from a person: withdraws the message with this local id, if the agent does not have it yet. */
  v.looseObject({ t: v.literal('withdraw'), localId: v.string() }),
  /** Ours, from a person: moves the first of two queued messages right before the second. */
  v.looseObject({ t: v.literal('move'), localId: v.string(), before: v.string() }),
  /** Ours, from a wrapper: the agent has this message, although earlier ones are queued or it was withdrawn too late. */
  v.looseObject({ t: v.literal('read'), localId: v.string() }),
  /** Ours, from a wrapper: this message came too late to replace another, and counts as a new one. */
  v.looseObject({ t: v.literal('apart'), localId: v.string() }),
  /** From older wrappers of ours: the whole current plan, which replaces the previous one. Today it is a step of the to-do tool. */
  v.looseObject({ t: v.literal('plan'), entries: v.array(planEntry) })
])

/** `id`, `turn` and `subagent` are cuid2 texts; existing apps ignore agent envelopes without `turn`, except `service` usage. */
export const envelope = v.looseObject({
  id: v.string(),
  time: v.number(),
  role: v.picklist(['user', 'agent']),
  turn: v.optional(v.string()),
  subagent: v.optional(v.string()),
  usage: v.fallback(v.optional(usage), undefined),
  ev: sessionEvent
})

/** The options of a user text. An absent one is unchanged, null resets it. */
export const messageMeta = v.looseObject({
  sentFrom: v.optional(v.string()),
  permissionMode: v.nullish(v.string()),
  model: v.nullish(v.string()),
  effort: v.nullish(v.string()),
  displayText: v.optional(v.string()),
  /** Ours: ends the running turn instead of waiting for it. */
  steer: v.optional(v.boolean()),
  /** Ours: replaces the message with this local id, if the agent does not have that yet. */
  replaces: v.optional(v.string()),
  /** Ours: the reason for a denial or a stop; written on a device, and sent by the wrapper. */
  isReason: v.optional(v.boolean()),
  /** Ours, on every message: a malformed one counts as absent. */
  sealedBy: v.fallback(v.optional(sealedBy), undefined)
})

export const userText = v.looseObject({
  role: v.literal('user'),
  content: v.looseObject({ type: v.literal('text'), text: v.string() }),
  localKey: v.optional(v.string()),
  meta: v.fallback(v.optional(messageMeta), undefined)
})

/** Wrappers send the envelope bare, apps wrap it. */
export const sessionMessage = v.looseObject({
  role: v.literal('session'),
  content: v.union([envelope, v.looseObject({ type: v.literal('session'), data: envelope })]),
  meta: v.fallback(v.optional(messageMeta), undefined)
})

/** The four older families; `data` is parsed leniently where it is shown. */
export const agentMessage = v.looseObject({
  role: v.literal('agent'),
  content: v.variant('type', [
    v.looseObject({ type: v.literal('output'), data: v.looseObject({ type: v.string() }) }),
    v.looseObject({ type: v.literal('codex'), data: v.looseObject({ type: v.string() }) }),
    v.looseObject({ type: v.literal('acp'), provider: v.string(), data: v.looseObject({ type: v.string() }) }),
    v.looseObject({ type: v.literal('event'), id: v.optional(v.string()), data: v.looseObject({ type: v.string() }) })
  ]),
  meta: v.fallback(v.optional(messageMeta), undefined)
})

/** The plaintext of a message, in all formats in use. */
export const messageBody = v.variant('role', [userText, sessionMessage, agentMessage])

/** The current state of a block, replaced by the stored text that ends it. */
export const partialBody = v.object({ turn: v.string(), block: v.string(), text: v.string(), thinking: v.boolean() })

/**
 * The plaintext of a `partial` signal: the block in full, or the text added since frame `n - 1` of the session. Earlier apps skip
 * additions and show the text whenever it comes in full; frames of earlier wrappers have no number.
 */
export const partialFrame = v.union([
  v.object({ ...partialBody.entries, n: v.optional(v.pipe(v.int(), v.minValue(0))) }),
  v.object({ block: v.string(), n: v.pipe(v.int(), v.gtValue(0)), added: v.string() })
])

export type Usage = v.InferOutput<typeof usage>
export type StepContent = v.InferOutput<typeof stepContent>
export type StepKind = v.InferOutput<typeof stepKind>
export type StepStatus = v.InferOutput<typeof stepStatus>
export type PlanEntry = v.InferOutput<typeof planEntry>
export type SessionEvent = v.InferOutput<typeof sessionEvent>
export type Envelope = v.InferOutput<typeof envelope>
export type MessageMeta = v.InferOutput<typeof messageMeta>
export type UserText = v.InferOutput<typeof userText>
export type MessageBody = v.InferOutput<typeof messageBody>
export type PartialBody = v.InferOutput<typeof partialBody>
export type PartialFrame = v.InferOutput<typeof partialFrame>
