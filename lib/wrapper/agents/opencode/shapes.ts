import * as z from 'zod'

/** The part of opencode's output that we read, and nothing more: a field of another shape costs only that field. */
const text = z.string().optional().catch(undefined)
const count = z.number().catch(0)

const tokens = z
  .object({ input: count, output: count, reasoning: count, cache: z.object({ read: count, write: count }).catch({ read: 0, write: 0 }) })
  .optional()
  .catch(undefined)

const modelName = z.object({ providerID: z.string(), modelID: z.string() }).optional().catch(undefined)

export const message = z.looseObject({
  id: z.string(),
  sessionID: z.string(),
  role: z.enum(['user', 'assistant']),
  time: z.object({ created: z.number(), completed: z.number().optional() }),
  agent: text,
  /** For a person's message; for a model's, the name is next to it. */
  model: modelName,
  modelID: text,
  finish: text,
  providerID: text,
  cost: count,
  tokens,
  error: z
    .looseObject({
      name: z.string(),
      data: z.looseObject({ message: z.string().optional() }).optional().catch(undefined)
    })
    .optional()
    .catch(undefined)
})

const record = z.record(z.string(), z.unknown())
const toolState = z.looseObject({
  status: z.enum(['pending', 'running', 'completed', 'error']),
  input: record.catch({}),
  title: text,
  output: text,
  error: text,
  metadata: record.optional().catch(undefined)
})

const ofMessage = { id: z.string(), sessionID: z.string(), messageID: z.string() }
export const part = z.discriminatedUnion('type', [
  z.looseObject({
    ...ofMessage,
    type: z.enum(['text', 'reasoning']),
    text: z.string(),
    /** Added by opencode itself, for the model. */
    synthetic: z.boolean().optional().catch(undefined),
    ignored: z.boolean().optional().catch(undefined),
    time: z.object({ end: z.number().optional() }).optional().catch(undefined)
  }),
  z.looseObject({ ...ofMessage, type: z.literal('tool'), callID: z.string(), tool: z.string(), state: toolState }),
  z.looseObject({ ...ofMessage, type: z.literal('file'), mime: z.string(), filename: text })
])

export const session = z.looseObject({
  id: z.string(),
  parentID: text,
  title: z.string().catch(''),
  cost: count
})

const called = z.object({ messageID: z.string(), callID: z.string() }).optional().catch(undefined)
export const permission = z.looseObject({
  id: z.string(),
  sessionID: z.string(),
  permission: z.string(),
  patterns: z.array(z.string()).catch([]),
  always: z.array(z.string()).catch([]),
  metadata: record.catch({}),
  tool: called
})

export const question = z.looseObject({
  id: z.string(),
  sessionID: z.string(),
  questions: z.array(
    z.looseObject({
      question: z.string(),
      header: text,
      options: z.array(z.looseObject({ label: z.string(), description: text })),
      multiple: z.boolean().optional().catch(undefined),
      custom: z.boolean().optional().catch(undefined)
    })
  ),
  tool: called
})

/** An unreadable one costs only itself. */
const listOf = <Shape extends z.ZodType>(shape: Shape) =>
  z.array(shape.optional().catch(undefined)).transform(list => list.filter(each => each !== undefined))
export const permissions = listOf(permission)
export const questions = listOf(question)

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, properties: Shape) =>
  z.looseObject({ type: z.literal(type), properties: z.looseObject(properties) })

/** The events we use; the many others are ignored. */
export const serverEvent = z.discriminatedUnion('type', [
  event('server.connected', {}),
  event('message.updated', { info: message }),
  event('message.part.updated', { part }),
  event('message.part.delta', { sessionID: z.string(), messageID: z.string(), partID: z.string(), field: z.string(), delta: z.string() }),
  event('permission.asked', permission.shape),
  event('permission.replied', { requestID: z.string(), reply: z.string() }),
  event('question.asked', question.shape),
  event('question.replied', { requestID: z.string(), answers: z.array(z.array(z.string())).catch([]) }),
  event('question.rejected', { requestID: z.string() }),
  event('session.created', { info: session }),
  event('session.updated', { info: session }),
  event('session.idle', { sessionID: z.string() }),
  event('session.status', {
    sessionID: z.string(),
    status: z.looseObject({
      type: z.string(),
      message: text,
      attempt: z.number().optional().catch(undefined),
      next: z.number().optional().catch(undefined)
    })
  }),
  event('session.error', { sessionID: text, error: message.shape.error })
])

export const history = z.array(z.object({ info: message, parts: z.array(part.optional().catch(undefined)) }))

/** By conversation; idle ones are left out. */
export const statuses = z.record(z.string(), z.looseObject({ type: z.string() }))

export const agents = z.array(
  z.looseObject({
    name: z.string(),
    description: text,
    mode: z.string().catch('primary'),
    hidden: z.boolean().optional().catch(undefined),
    permission: z.array(z.object({ permission: z.string(), pattern: z.string(), action: z.string() })).catch([])
  })
)

export const config = z.looseObject({ default_agent: text, model: text })

export const providers = z.looseObject({
  /** By provider. */
  default: z.record(z.string(), z.string()).catch({}),
  providers: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string().catch(''),
      models: z.record(
        z.string(),
        z.looseObject({
          name: z.string().catch(''),
          limit: z.object({ context: count }).optional().catch(undefined),
          variants: record.optional().catch(undefined)
        })
      )
    })
  )
})

export const commandList = z.array(z.looseObject({ name: z.string(), description: z.string().optional().catch(undefined) }))

export type Message = z.infer<typeof message>
export type Session = z.infer<typeof session>
export type Part = z.infer<typeof part>
export type ToolPart = Extract<Part, { type: 'tool' }>
export type PermissionRequest = z.infer<typeof permission>
export type QuestionRequest = z.infer<typeof question>
export type ServerEvent = z.infer<typeof serverEvent>
export type History = z.infer<typeof history>
export type AgentList = z.infer<typeof agents>
export type Providers = z.infer<typeof providers>
