import type { ReadonlySignal } from '@preact/signals'
import { olderParams } from '../../../lib/client/happy/agent-state.ts'
import { CallFailed, callSession } from '../../../lib/client/index.ts'
import { feel } from '../../ui/behavior/haptics.ts'
import { troubleOf } from '../account/machine-call.ts'
import type { ServerLink } from '../account/server-link.ts'
import { answerParams, type Verdict } from '../decisions/answers.ts'
import { type OpenRequest, openRequests } from '../decisions/decisions.ts'
import { type Answers, type OpenQuestion, openQuestions, questionParams } from '../decisions/questions.ts'
import type { SessionView } from '../store.ts'
import type { DurableQueue, EntryState, Kind } from './durable-queue.ts'

/** A person's answer on this device, to a permission or question. The agent state shows that it was applied. */
export type Reply = {
  readonly key: string
  readonly kind: 'reply'
  readonly session: string
  readonly at: number
  readonly state: ReplyState
} & (
  | { readonly type: 'permission'; readonly asked: OpenRequest; readonly verdict: Verdict }
  | { readonly type: 'question'; readonly asked: OpenQuestion; readonly answers: Answers | undefined }
)

/** Acceptance shows when its request is no longer open. */
export type ReplyState = Exclude<EntryState, { type: 'wants-folder' }>

type Given = Reply extends infer Each ? (Each extends Reply ? Omit<Each, 'key' | 'kind' | 'state'> : never) : never

export interface ReplySources {
  readonly link: Pick<ServerLink, 'socket' | 'cipherOf'>
  readonly sessions: ReadonlySignal<ReadonlyMap<string, SessionView>>
  /** The name of this device. */
  me(): string | undefined
}

/** `mayWait`: false for answers that require seeing that the request is still open. */
export function giveReply(queue: Pick<DurableQueue<Reply>, 'send'>, given: Given, mayWait: boolean): Promise<void> {
  feel('sent')
  return queue.send({ ...given, kind: 'reply', key: replyKey(given.session, given.asked.id), state: { type: 'queued' } }, mayWait)
}

export function replyKey(session: string, asked: string): string {
  return `${session} ${asked}`
}

/** Each is bound to what was shown, so a late or repeated answer is rejected by the machine and never applied to another request. */
export function replies({ link, sessions, me }: ReplySources): Kind<Reply> {
  return {
    mayStayInTab: true,
    mayLeave(reply) {
      const session = sessions.value.get(reply.session)
      if (session?.isActive === true && isOpen(reply, session)) return 0
      // Answered elsewhere, or canceled by the agent: its session says which.
      return session !== undefined && session.agentState !== undefined && !isOpen(reply, session) ? 'over' : Number.POSITIVE_INFINITY
    },
    async send(reply) {
      try {
        const cipher = link.cipherOf(reply.session)
        if (cipher === undefined) throw new CallFailed('unreadable', '')
        if (reply.type === 'question' && reply.asked.olderKind !== undefined)
          await callSession(link.socket, cipher, reply.session, 'communication', olderParams(reply.asked, reply.answers, me()))
        else await callSession(link.socket, cipher, reply.session, 'permission', paramsOf(reply, me()))
        return { type: 'delivered' }
      } catch (error) {
        return troubleOf(error)
      }
    },
    onFailed: () => feel('failed')
  }
}

function paramsOf(reply: Reply, me: string | undefined) {
  if (reply.type === 'permission') return answerParams(reply.asked, reply.verdict, me)
  return questionParams(reply.asked, reply.answers, me)
}

function isOpen({ asked }: Reply, { agentState }: SessionView): boolean {
  const state = agentState ?? undefined
  return [...openRequests(state), ...openQuestions(state)].some(({ id }) => id === asked.id)
}
