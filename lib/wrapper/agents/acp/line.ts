import type { CreateElicitationResponse } from '@agentclientprotocol/sdk'
import { type AnyMessage, type ClientConnection, client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import type { AgentProcess } from '../process.ts'
import {
  type Elicitation,
  elicitation,
  elicitationDone,
  type PermissionQuestion,
  permissionQuestion,
  sessionNotification,
  type Update
} from './messages.ts'

export interface LineHandlers {
  /** Resolves to the option that was chosen, or to nothing when it is over without one. */
  onPermission(question: PermissionQuestion, signal: AbortSignal): Promise<string | undefined>
  onQuestion(question: Elicitation, signal: AbortSignal): Promise<CreateElicitationResponse>
  /** The page of that question was seen to its end. */
  onLinkDone(id: string): void
  onUpdate(session: string, update: Update): void
  /** What only this agent tells, see `AcpProgram`. */
  onMore(method: string, params: unknown): void
}

/** Speaks ACP with a program over its standard input and output. */
export function openLine(child: AgentProcess, handlers: LineHandlers): ClientConnection {
  const { onPermission, onQuestion, onLinkDone } = handlers
  const { readable, writable } = ndJsonStream(child.input, child.output)
  return client({ name: 'afield' })
    .onRequest(
      methods.client.session.requestPermission,
      params => permissionQuestion.parse(params),
      async ({ params, signal }) => {
        const choice = await onPermission(params, signal)
        return { outcome: choice === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: choice } }
      }
    )
    .onRequest(
      methods.client.elicitation.create,
      params => elicitation.parse(params),
      ({ params, signal }) => onQuestion(params, signal)
    )
    .onNotification(
      methods.client.elicitation.complete,
      params => elicitationDone.parse(params),
      ({ params }) => onLinkDone(params.elicitationId)
    )
    .connect({ readable: withoutUpdates(readable, handlers), writable })
}

/**
 * Updates are read before the SDK sees them: it refuses those of a kind newer than itself, and hands the others on
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
          const { data } = sessionNotification.safeParse(message.params)
          if (data?.update) onUpdate(data.sessionId, data.update)
        }
        // The SDK hands on no notification of an agent's own.
        else if (message.method.startsWith('_')) onMore(message.method, message.params)
        else return rest.enqueue(message)
      }
    },
    cancel: reason => reader.cancel(reason)
  })
}
