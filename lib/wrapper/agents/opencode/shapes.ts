import * as v from '../../../schema.ts'

/** The part of opencode's output that we read, and nothing more: a field of another shape costs only that field. */
const text = v.fallback(v.optional(v.string()), undefined)
const count = v.fallback(v.number(), 0)

const tokens = v.fallback(
  v.optional(
    v.object({
      input: count,
      output: count,
      reasoning: count,
      cache: v.fallback(v.object({ read: count, write: count }), { read: 0, write: 0 })
    })
  ),
  undefined
)

const modelName = v.fallback(v.optional(v.object({ providerID: v.string(), modelID: v.string() })), undefined)

export const message = v.looseObject({
  id: v.string(),
  sessionID: v.string(),
  role: v.picklist(['user', 'assistant']),
  time: v.object({ created: v.number(), completed: v.optional(v.number()) }),
  agent: text,
  /** For a person's message; for a model's, the name is next to it. */
  model: modelName,
  modelID: text,
  finish: text,
  providerID: text,
  cost: count,
  tokens,
  error: v.fallback(
    v.optional(
      v.looseObject({
        name: v.string(),
        data: v.fallback(v.optional(v.looseObject({ message: v.optional(v.string()) })), undefined)
      })
    ),
    undefined
  )
})

const record = v.record(v.string(), v.unknown())
const toolState = v.looseObject({
  status: v.picklist(['pending', 'running', 'completed', 'error']),
  input: v.fallback(record, {}),
  title: text,
  output: text,
  error: text,
  metadata: v.fallback(v.optional(record), undefined)
})

const ofMessage = { id: v.string(), sessionID: v.string(), messageID: v.string() }
export const part = v.variant('type', [
  v.looseObject({
    ...ofMessage,
    type: v.picklist(['text', 'reasoning']),
    text: v.string(),
    /** Added by opencode itself, for the model. */
    synthetic: v.fallback(v.optional(v.boolean()), undefined),
    ignored: v.fallback(v.optional(v.boolean()), undefined),
    time: v.fallback(v.optional(v.object({ end: v.optional(v.number()) })), undefined)
  }),
  v.looseObject({ ...ofMessage, type: v.literal('tool'), callID: v.string(), tool: v.string(), state: toolState }),
  v.looseObject({ ...ofMessage, type: v.literal('file'), mime: v.string(), filename: text })
])

export const session = v.looseObject({
  id: v.string(),
  parentID: text,
  title: v.fallback(v.string(), ''),
  cost: count
})

const called = v.fallback(v.optional(v.object({ messageID: v.string(), callID: v.string() })), undefined)
export const permission = v.looseObject({
  id: v.string(),
  sessionID: v.string(),
  permission: v.string(),
  patterns: v.fallback(v.array(v.string()), []),
  always: v.fallback(v.array(v.string()), []),
  metadata: v.fallback(record, {}),
  tool: called
})

export const question = v.looseObject({
  id: v.string(),
  sessionID: v.string(),
  questions: v.array(
    v.looseObject({
      question: v.string(),
      header: text,
      options: v.array(v.looseObject({ label: v.string(), description: text })),
      multiple: v.fallback(v.optional(v.boolean()), undefined),
      custom: v.fallback(v.optional(v.boolean()), undefined)
    })
  ),
  tool: called
})

/** An unreadable one is dropped alone. */
const listOf = <Shape extends v.GenericSchema>(shape: Shape) =>
  v.pipe(
    v.array(v.fallback(v.optional(shape), undefined)),
    v.transform(list => list.filter(each => each !== undefined))
  )
export const permissions = listOf(permission)
export const questions = listOf(question)

const event = <Type extends string, Shape extends v.ObjectEntries>(type: Type, properties: Shape) =>
  v.looseObject({ type: v.literal(type), properties: v.looseObject(properties) })

/** The events we use; the many others are ignored. */
export const serverEvent = v.variant('type', [
  event('server.connected', {}),
  event('message.updated', { info: message }),
  event('message.part.updated', { part }),
  event('message.part.delta', { sessionID: v.string(), messageID: v.string(), partID: v.string(), field: v.string(), delta: v.string() }),
  event('permission.asked', permission.entries),
  event('permission.replied', { requestID: v.string(), reply: v.string() }),
  event('question.asked', question.entries),
  event('question.replied', { requestID: v.string(), answers: v.fallback(v.array(v.array(v.string())), []) }),
  event('question.rejected', { requestID: v.string() }),
  event('session.created', { info: session }),
  event('session.updated', { info: session }),
  event('session.idle', { sessionID: v.string() }),
  event('session.status', {
    sessionID: v.string(),
    status: v.looseObject({
      type: v.string(),
      message: text,
      attempt: v.fallback(v.optional(v.number()), undefined),
      next: v.fallback(v.optional(v.number()), undefined)
    })
  }),
  event('session.error', { sessionID: text, error: message.entries.error })
])

export const history = v.array(v.object({ info: message, parts: v.array(v.fallback(v.optional(part), undefined)) }))

/** By conversation; idle ones are left out. */
export const statuses = v.record(v.string(), v.looseObject({ type: v.string() }))

export const agents = v.array(
  v.looseObject({
    name: v.string(),
    description: text,
    mode: v.fallback(v.string(), 'primary'),
    hidden: v.fallback(v.optional(v.boolean()), undefined),
    permission: v.fallback(v.array(v.object({ permission: v.string(), pattern: v.string(), action: v.string() })), [])
  })
)

export const config = v.looseObject({ default_agent: text, model: text })

export const providers = v.looseObject({
  /** By provider. */
  default: v.fallback(v.record(v.string(), v.string()), {}),
  providers: v.array(
    v.looseObject({
      id: v.string(),
      name: v.fallback(v.string(), ''),
      models: v.record(
        v.string(),
        v.looseObject({
          name: v.fallback(v.string(), ''),
          limit: v.fallback(v.optional(v.object({ context: count })), undefined),
          variants: v.fallback(v.optional(record), undefined)
        })
      )
    })
  )
})

export const commandList = v.array(v.looseObject({ name: v.string(), description: v.fallback(v.optional(v.string()), undefined) }))

export type Message = v.InferOutput<typeof message>
export type Session = v.InferOutput<typeof session>
export type Part = v.InferOutput<typeof part>
export type ToolPart = Extract<Part, { type: 'tool' }>
export type PermissionRequest = v.InferOutput<typeof permission>
export type QuestionRequest = v.InferOutput<typeof question>
export type ServerEvent = v.InferOutput<typeof serverEvent>
export type History = v.InferOutput<typeof history>
export type AgentList = v.InferOutput<typeof agents>
export type Providers = v.InferOutput<typeof providers>
