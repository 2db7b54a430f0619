import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { CallFailed, type CallFailureReason, callSession } from '../../../lib/client/index.ts'
import type { DeviceDb } from '../../core/device-db.ts'
import { keptList } from '../../core/kept-list.ts'
import { feel } from '../../ui/behavior/haptics.ts'
import type { ServerLink } from '../account/server-link.ts'
import { answerParams, type Verdict } from '../decisions/answers.ts'
import { type OpenRequest, openRequests } from '../decisions/decisions.ts'
import { type Answers, type OpenQuestion, olderParams, openQuestions, questionParams } from '../decisions/questions.ts'
import type { SessionView } from '../store.ts'

/** What a person answered on this device, to a permission or to a question. */
export type Reply = { readonly session: string; readonly at: number; readonly state: ReplyState } & (
  | { readonly type: 'permission'; readonly asked: OpenRequest; readonly verdict: Verdict }
  | { readonly type: 'question'; readonly asked: OpenQuestion; readonly answers: Answers | undefined }
)

/** `queued`: kept on this device until there is a link. `delivered`: the machine has taken it; that it was applied its agent state tells. */
export type ReplyState =
  | { readonly type: 'queued' | 'sending' | 'delivered' }
  | { readonly type: 'failed'; readonly why: CallFailureReason; readonly says: string }

type Given = Reply extends infer Each ? (Each extends Reply ? Omit<Each, 'state'> : never) : never

/** The answers of this device, and how far each has come. Those that wait for a link are kept, also while the app is closed. */
export interface Replies {
  readonly all: ReadonlySignal<readonly Reply[]>
  /** `mayWait`: false for what only a person may send who sees that it is still open. */
  give(reply: Given, mayWait: boolean): Promise<void>
  /** As long as it is here. */
  withdraw(session: string, asked: string): void
  /** The person has read how it ended. */
  dismiss(session: string, asked: string): void
  /** Resolves when what an earlier start of the app left is in `all`. */
  readonly isRead: Promise<void>
  /** Resolves when all is kept that has to be. */
  close(): Promise<void>
}

export interface ReplySources {
  readonly link: Pick<ServerLink, 'socket' | 'cipherOf'>
  readonly sessions: ReadonlySignal<ReadonlyMap<string, SessionView>>
  /** False while what the account feed told may be old. */
  readonly isLinked: ReadonlySignal<boolean>
  /** This device, as it names itself. */
  me(): string | undefined
  readonly db?: () => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>>
}

type Kept = Reply & { readonly key: string }

export function openReplies({ link, sessions, isLinked, me, db }: ReplySources): Replies {
  const kept = keptList<Kept>('replies', db)
  const all = signal<readonly Reply[]>([])
  const find = (session: string, asked: string) => all.peek().find(each => keyOf(each) === keyAs(session, asked))
  const note = (reply: Reply, state: ReplyState): void => {
    if (state.type === 'failed') feel('failed')
    const others = all.peek().filter(each => keyOf(each) !== keyOf(reply))
    all.value = [...others, { ...reply, state }]
  }
  const forget = (session: string, asked: string): void => {
    all.value = all.peek().filter(each => keyOf(each) !== keyAs(session, asked))
  }
  // What cannot be kept waits as long as this tab is open.
  const keep = (reply: Reply): Promise<void> => kept.put({ ...reply, key: keyOf(reply) }).catch(() => {})
  const drop = (reply: Reply): Promise<void> => kept.drop(keyOf(reply)).catch(() => {})

  const send = async (reply: Reply): Promise<void> => {
    const hasWaited = reply.state.type === 'queued'
    note(reply, { type: 'sending' })
    try {
      const cipher = link.cipherOf(reply.session)
      if (cipher === undefined) throw new CallFailed('unreadable', '')
      if (reply.type === 'question' && reply.asked.olderKind !== undefined)
        await callSession(link.socket, cipher, reply.session, 'communication', olderParams(reply.asked, reply.answers, me()))
      else await callSession(link.socket, cipher, reply.session, 'permission', paramsOf(reply, me()))
      note(reply, { type: 'delivered' })
    } catch (error) {
      const { reason, message } = error instanceof CallFailed ? error : new CallFailed('unreadable', String(error))
      // What waited for a link waits on for the machine, as long as nothing was done.
      if (hasWaited && (reason === 'away' || reason === 'not-connected')) return note(reply, { type: 'queued' })
      note(reply, { type: 'failed', why: reason, says: message })
    }
    if (hasWaited) await drop(reply)
  }
  /** Another tab of the device may have sent it, or taken it back. */
  const sendKept = async (reply: Reply): Promise<void> => {
    note(reply, { type: 'sending' })
    const isKept = await kept.read().then(
      list => list.some(({ key }) => key === keyOf(reply)),
      () => true
    )
    if (isKept) await send(reply)
    else forget(reply.session, reply.asked.id)
  }

  const hasRead = signal(false)
  const isRead = kept
    .read()
    .catch(() => [])
    .then(list => {
      const known = new Set(all.peek().map(keyOf))
      all.value = [...list.filter(each => !known.has(each.key)).map(({ key: _, ...reply }) => reply), ...all.peek()]
      hasRead.value = true
    })
  // Each is bound to what was shown, so one that waited too long is refused by the machine and not taken for another.
  const stop = effect(() => {
    // Tried again whenever a session is heard of.
    const known = sessions.value
    if (!isLinked.value || !hasRead.value) return
    for (const reply of all.peek()) {
      if (reply.state.type !== 'queued') continue
      const session = known.get(reply.session)
      if (session?.isActive === true && isOpen(reply, session)) void sendKept(reply)
      // Answered elsewhere, or taken back by the agent: its session says which.
      else if (session !== undefined && session.agentState !== undefined && !isOpen(reply, session)) void drop(reply)
    }
  })

  return {
    all,
    async give(given, mayWait) {
      feel('sent')
      const isNow = isLinked.peek()
      const reply: Reply = { ...given, state: { type: isNow ? 'sending' : 'queued' } }
      if (isNow) return send(reply)
      if (!mayWait) return note(reply, { type: 'failed', why: 'not-connected', says: '' })
      note(reply, { type: 'queued' })
      await keep(reply)
    },
    withdraw(session, asked) {
      const reply = find(session, asked)
      if (reply?.state.type !== 'queued') return
      forget(session, asked)
      void drop(reply)
    },
    dismiss: forget,
    isRead,
    async close() {
      stop()
      await kept.read().catch(() => [])
    }
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

function keyOf({ session, asked }: Reply): string {
  return keyAs(session, asked.id)
}

function keyAs(session: string, asked: string): string {
  return `${session} ${asked}`
}
