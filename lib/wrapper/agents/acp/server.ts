import {
  type AnyMessage,
  type ClientConnection,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError
} from '@agentclientprotocol/sdk'
import { version } from '../../../assets.ts'
import { CannotStart } from '../../../exit.ts'
import * as v from '../../../schema.ts'
import type { StartAgent } from '../agent.ts'
import type { AgentProcess } from '../process.ts'
import {
  type Elicitation,
  elicitation,
  elicitationDone,
  type Initialized,
  initialized,
  type OpenedSession,
  openedSession,
  type PermissionQuestion,
  permissionQuestion,
  sessionNotification,
  type Update
} from './messages.ts'
import { explain } from './refusals.ts'

interface LineHandlers {
  /** Resolves to the chosen option, or to nothing if it ends without one. */
  onPermission(question: PermissionQuestion, signal: AbortSignal): Promise<string | undefined>
  onQuestion(question: Elicitation, signal: AbortSignal): Promise<CreateElicitationResponse>
  /** The page of that question was completed. */
  onLinkDone(id: string): void
  onUpdate(session: string, update: Update): void
  /** What only this agent reports, see `AcpProgram`. */
  onMore(method: string, params: unknown): void
}

/** Speaks ACP with a program over its standard input and output. */
export function openLine(child: AgentProcess, handlers: LineHandlers): ClientConnection {
  const { onPermission, onQuestion, onLinkDone } = handlers
  const { readable, writable } = ndJsonStream(child.input, child.output)
  return client({ name: 'afield' })
    .onRequest(
      methods.client.session.requestPermission,
      params => v.parse(permissionQuestion, params),
      async ({ params, signal }) => {
        const choice = await onPermission(params, signal)
        return { outcome: choice === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: choice } }
      }
    )
    .onRequest(
      methods.client.elicitation.create,
      params => v.parse(elicitation, params),
      ({ params, signal }) => onQuestion(params, signal)
    )
    .onNotification(
      methods.client.elicitation.complete,
      params => v.parse(elicitationDone, params),
      ({ params }) => onLinkDone(params.elicitationId)
    )
    .connect({ readable: withoutUpdates(readable, handlers), writable })
}

/**
 * Updates are read before the SDK sees them: it rejects kinds newer than itself, and passes the others on
 * out of order with the replies around them.
 */
function withoutUpdates(messages: ReadableStream<AnyMessage>, { onUpdate, onMore }: LineHandlers): ReadableStream<AnyMessage> {
  const reader = messages.getReader()
  return new ReadableStream({
    async pull(rest) {
      for (;;) {
        const { done, value: message } = await reader.read()
        if (done) return rest.close()
        if (!('method' in message) || 'id' in message) return rest.enqueue(message)
        if (message.method === methods.client.session.update) {
          const { data } = v.safeParse(sessionNotification, message.params)
          if (data?.update) onUpdate(data.sessionId, data.update)
        }
        // The SDK does not pass on an agent's own notifications.
        else if (message.method.startsWith('_')) onMore(message.method, message.params)
        else return rest.enqueue(message)
      }
    },
    cancel: reason => reader.cancel(reason)
  })
}

type Line = ClientConnection['agent']

/** Introduces us to the agent, and gets its capabilities. */
export async function sayHello(line: Line, title: string): Promise<Initialized> {
  const hello = v.parse(
    initialized,
    await line.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'afield', version: version() },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {}, url: {} },
        session: { compaction: {}, notices: {}, configOptions: { boolean: {} } }
      }
    })
  )
  if (hello.protocolVersion === PROTOCOL_VERSION) return hello
  throw new CannotStart(`${title} speaks version ${hello.protocolVersion} of ACP; this Afield speaks version ${PROTOCOL_VERSION}.`)
}

/** `isRepeated`: the agent replayed its history. `isUnsent`: that should be read, if possible. */
export async function openConversation(
  line: Line,
  title: string,
  { directory, resume, isUnsent = false, more }: Pick<StartAgent, 'directory' | 'resume' | 'isUnsent'> & { more?: object | undefined },
  { agentCapabilities }: Initialized
): Promise<{ opened: OpenedSession; isRepeated: boolean }> {
  const at = { cwd: directory, mcpServers: [], ...(more && { _meta: more }) }
  if (resume === undefined) return { opened: v.parse(openedSession, await line.request(methods.agent.session.new, at)), isRepeated: false }
  const known = { ...at, sessionId: resume }
  const canLoad = agentCapabilities?.loadSession ?? false
  const canResume = Boolean(agentCapabilities?.sessionCapabilities?.resume)
  // An agent that loads a conversation replays it.
  if (canLoad && (isUnsent || !canResume)) {
    const repeated = await line.request(methods.agent.session.load, known).catch(error => {
      // What was not received stays missing, and the conversation continues.
      if (!canResume || !(error instanceof RequestError)) throw error
    })
    if (repeated !== undefined) return { opened: v.parse(openedSession, repeated), isRepeated: true }
  }
  if (!canResume) throw new CannotStart(`${title} cannot continue an earlier conversation.`)
  return { opened: v.parse(openedSession, await line.request(methods.agent.session.resume, known)), isRepeated: false }
}

/** The agent has no such conversation: usually one that it had, and whose program has ended. */
export function isGone(error: unknown): boolean {
  return error instanceof RequestError && error.code === notFound
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof RequestError && error.code === signedOut
}

/** Why a program did not open a conversation, as a sentence about it. */
export function whyNotOpened(title: string, error: unknown, withinMs: number): string {
  if (isSignedOut(error)) {
    return `${title} needs you to sign in first: run it once in this terminal.`
  }
  if (isGone(error)) return `${title} has no such conversation on this computer.`
  // A program that echoes its input, such as cat, returns our own rejection of our request.
  if ((error instanceof RequestError && error.code === unknownMethod) || error instanceof v.Misfit) {
    return `${title} does not speak ACP on its standard input and output.`
  }
  if (error instanceof Error && error.name === 'DeadlineExceeded') {
    return `${title} did not answer within ${withinMs / 1000} s. Does this command speak ACP on its standard input and output?`
  }
  return `${title} did not start: ${explain(error)}`
}

const signedOut = -32000
const unknownMethod = -32601
const notFound = -32002
