import * as z from 'zod'
import { sealedBy, sealFault } from './sealed-for.ts'

/** Token counts of a turn, as the agent told them. */
export const usage = z.looseObject({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_creation_input_tokens: z.number().optional(),
  cache_read_input_tokens: z.number().optional(),
  context_window: z.number().optional(),
  /** Ours: what the whole conversation has cost so far, as the agent reckons. */
  cost: z.looseObject({ amount: z.number(), currency: z.string() }).optional().catch(undefined)
})

/** What a step shows beyond its arguments. Paths are as the agent gave them; `oldText` null means a new file. */
export const stepContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullable(), newText: z.string() })
])
export const stepKind = z.enum(['read', 'search', 'edit', 'delete', 'move', 'execute', 'fetch', 'think', 'plan', 'other'])
export const stepStatus = z.enum(['completed', 'failed', 'denied', 'cancelled'])
export const planEntry = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.string().optional()
})

/** One thing that happened in a session. Fields and kinds marked ours are dropped or ignored by existing apps. */
export const sessionEvent = z.discriminatedUnion('t', [
  /** `cut` is ours: this is as far as it came before the agent ended; the agent itself does not have it. */
  z.looseObject({
    t: z.literal('text'),
    text: z.string(),
    thinking: z.boolean().optional(),
    cut: z.boolean().optional().catch(undefined)
  }),
  /** `fault` is ours: the text says the same. */
  z.looseObject({ t: z.literal('service'), text: z.string(), fault: sealFault.optional().catch(undefined) }),
  /** `kind`, `locations` and `content` are ours. */
  z.looseObject({
    t: z.literal('tool-call-start'),
    call: z.string(),
    name: z.string(),
    title: z.string(),
    description: z.string(),
    args: z.record(z.string(), z.unknown()),
    kind: stepKind.optional().catch(undefined),
    locations: z.array(z.string()).optional().catch(undefined),
    content: z.array(stepContent).optional().catch(undefined)
  }),
  /** `status` and `content` are ours; existing wrappers tell no result. */
  z.looseObject({
    t: z.literal('tool-call-end'),
    call: z.string(),
    status: stepStatus.optional().catch(undefined),
    content: z.array(stepContent).optional().catch(undefined)
  }),
  z.looseObject({
    t: z.literal('file'),
    ref: z.string(),
    name: z.string(),
    size: z.number(),
    /** Ours: the nonce of its seal, in base64; what comes under the ref with another one is something else. */
    seal: z.string().optional().catch(undefined),
    mimeType: z.string().optional(),
    image: z.looseObject({ width: z.number(), height: z.number(), thumbhash: z.string().optional() }).optional()
  }),
  z.looseObject({ t: z.literal('turn-start') }),
  z.looseObject({ t: z.literal('turn-end'), status: z.enum(['completed', 'failed', 'cancelled']) }),
  z.looseObject({ t: z.literal('start'), title: z.string().optional() }),
  z.looseObject({ t: z.literal('stop') }),
  /** Ours, of a person: the message with this local id shall not be handed to the agent, if it was not yet. */
  z.looseObject({ t: z.literal('withdraw'), localId: z.string() }),
  /** Ours, of a person: of two messages that wait, the first comes right before the second. */
  z.looseObject({ t: z.literal('move'), localId: z.string(), before: z.string() }),
  /** Ours, of a wrapper: the agent has this message, though earlier ones wait or it was withdrawn too late. */
  z.looseObject({ t: z.literal('read'), localId: z.string() }),
  /** Ours, of a wrapper: this message came too late to replace another, and is one of its own. */
  z.looseObject({ t: z.literal('apart'), localId: z.string() }),
  /** Of older wrappers of ours: the whole plan as it stands now; replaces the one before. Today it is a step of the to-do tool. */
  z.looseObject({ t: z.literal('plan'), entries: z.array(planEntry) })
])

/** `id`, `turn` and `subagent` are cuid2 texts; existing apps ignore agent envelopes without `turn`, `service` usage excepted. */
export const envelope = z.looseObject({
  id: z.string(),
  time: z.number(),
  role: z.enum(['user', 'agent']),
  turn: z.string().optional(),
  subagent: z.string().optional(),
  usage: usage.optional().catch(undefined),
  ev: sessionEvent
})

/** What the sender of a user text asks for. Absent keeps what was, null resets it. */
export const messageMeta = z.looseObject({
  sentFrom: z.string().optional(),
  permissionMode: z.string().nullish(),
  model: z.string().nullish(),
  effort: z.string().nullish(),
  displayText: z.string().optional(),
  /** Ours: ends the turn that runs, instead of waiting for it. */
  steer: z.boolean().optional(),
  /** Ours: it takes the place of the message with this local id, if the agent was not handed that yet. */
  replaces: z.string().optional(),
  /** Ours: why a person said no or stopped a turn; written on a device, and sent by the wrapper. */
  isReason: z.boolean().optional(),
  /** Ours, of every message: a malformed one is none. */
  sealedBy: sealedBy.optional().catch(undefined)
})

export const userText = z.looseObject({
  role: z.literal('user'),
  content: z.looseObject({ type: z.literal('text'), text: z.string() }),
  localKey: z.string().optional(),
  meta: messageMeta.optional().catch(undefined)
})

/** Wrappers send the envelope bare, apps wrap it. */
export const sessionMessage = z.looseObject({
  role: z.literal('session'),
  content: z.union([envelope, z.looseObject({ type: z.literal('session'), data: envelope })]),
  meta: messageMeta.optional().catch(undefined)
})

/** The four older families; `data` is read leniently where it is shown. */
export const agentMessage = z.looseObject({
  role: z.literal('agent'),
  content: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('output'), data: z.looseObject({ type: z.string() }) }),
    z.looseObject({ type: z.literal('codex'), data: z.looseObject({ type: z.string() }) }),
    z.looseObject({ type: z.literal('acp'), provider: z.string(), data: z.looseObject({ type: z.string() }) }),
    z.looseObject({ type: z.literal('event'), id: z.string().optional(), data: z.looseObject({ type: z.string() }) })
  ]),
  meta: messageMeta.optional().catch(undefined)
})

/** The plaintext of a message, in every form that is out there. */
export const messageBody = z.discriminatedUnion('role', [userText, sessionMessage, agentMessage])

/** A block as it stands, replaced by the stored text that ends it. */
export const partialBody = z.object({ turn: z.string(), block: z.string(), text: z.string(), thinking: z.boolean() })

/**
 * The plaintext of a `partial` signal: the block whole, or what was added since frame `n - 1` of the session. Earlier apps pass over what
 * was added and show the text each time it comes whole; what earlier wrappers tell has no number.
 */
export const partialFrame = z.union([
  partialBody.extend({ n: z.int().nonnegative().optional() }),
  z.object({ block: z.string(), n: z.int().positive(), added: z.string() })
])

export type Usage = z.infer<typeof usage>
export type StepContent = z.infer<typeof stepContent>
export type StepKind = z.infer<typeof stepKind>
export type StepStatus = z.infer<typeof stepStatus>
export type PlanEntry = z.infer<typeof planEntry>
export type SessionEvent = z.infer<typeof sessionEvent>
export type Envelope = z.infer<typeof envelope>
export type MessageMeta = z.infer<typeof messageMeta>
export type UserText = z.infer<typeof userText>
export type MessageBody = z.infer<typeof messageBody>
export type PartialBody = z.infer<typeof partialBody>
export type PartialFrame = z.infer<typeof partialFrame>
