import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { CallFailed, callSession } from '../../lib/client/index.ts'
import type { Live } from './live.ts'
import { hasHelper } from './machines.ts'
import { answerParams, type Life, lifeOf, type MyAnswer, type Verdict } from './session-answers.ts'
import { type Answered, decisionsOf, type OpenRequest, openRequests } from './session-decisions.ts'
import { factsOf, type SessionFacts } from './session-facts.ts'
import { type FeedWord, openMessages } from './session-messages.ts'
import { openTexts, type SessionTexts } from './session-texts.ts'
import { resumeSession, stopOnMachine, type Trouble } from './starting.ts'
import type { MachineView, SessionView } from './store.ts'
import type { Transcript } from './transcript.ts'

/** One open session: what is known of it, and what a person can do in it. The screen draws nothing else. */
export interface SessionModel {
  readonly id: string
  /** Undefined when this device knows no such session. */
  readonly facts: ReadonlySignal<SessionFacts | undefined>
  readonly transcript: ReadonlySignal<Transcript>
  readonly feed: ReadonlySignal<FeedWord>
  /** Whether there is more before the first message that is known. */
  readonly older: ReadonlySignal<'none' | 'more' | 'loading' | 'failed'>
  readonly texts: SessionTexts
  /** Oldest first. */
  readonly requests: ReadonlySignal<readonly OpenRequest[]>
  readonly answered: ReadonlySignal<readonly Answered[]>
  /** Answers given here that are not yet history, by request. */
  readonly lives: ReadonlySignal<ReadonlyMap<string, { answer: MyAnswer; life: Life }>>
  readonly isWorking: ReadonlySignal<boolean>
  readonly asked: ReadonlySignal<AskedOf>
  /** This device, as it names itself in its answers. */
  readonly me: string | undefined
  answer(request: OpenRequest, verdict: Verdict): Promise<void>
  /** The person has read how an answer ended. */
  dismiss(request: string): void
  stop(): Promise<void>
  setMode(mode: string): Promise<void>
  /** Ends the agent. Resolves to whether the machine did it. */
  end(): Promise<boolean>
  /** Begins an ended session again, through the helper of its machine. */
  resume(): Promise<void>
  /** Takes the keyboard from the terminal. */
  takeOver(): Promise<void>
  loadOlder(): Promise<void>
  close(): void
}

/** What the agent was asked besides its prompts, and how far that is. */
export interface AskedOf {
  readonly stop: { readonly at: number; readonly state: 'asking' | 'asked' | 'failed' } | undefined
  readonly mode: { readonly code: string; readonly state: 'asking' | 'failed' } | undefined
  readonly resume: 'asking' | Trouble | undefined
  readonly takeOver: 'asking' | 'failed' | undefined
}

export const askedNothing: AskedOf = { stop: undefined, mode: undefined, resume: undefined, takeOver: undefined }

export interface SessionSources {
  readonly id: string
  readonly live: Live
  readonly session: ReadonlySignal<SessionView | undefined>
  readonly machine: ReadonlySignal<MachineView | undefined>
  /** False while what the account feed told may be old. */
  readonly isLinked: ReadonlySignal<boolean>
  readonly me: string | undefined
}

export function openSession(sources: SessionSources): SessionModel {
  const { id, live, session, machine, isLinked, me } = sources
  const messages = openMessages({ id, live, session, isLinked })
  const texts = openTexts({ id, live, session, transcript: messages.transcript })
  const facts = computed(() => session.value && factsOf(session.value, machine.value))
  const state = computed(() => session.value?.agentState ?? undefined)
  const requests = computed(() => (session.value?.isActive === true ? openRequests(state.value) : []))
  const answered = computed(() => decisionsOf(state.value))
  const mine = signal<ReadonlyMap<string, MyAnswer>>(new Map())
  const asked = signal(askedNothing)

  const isWorking = computed(() => {
    const now = facts.value
    if (now === undefined || now.presence !== 'here') return false
    const { turn, items } = messages.transcript.value
    // The wrapper has since said that it does nothing: the turn was cut off and never ended.
    const lastAt = Math.max(turn?.startedAt ?? 0, items.at(-1)?.at ?? 0)
    return now.isThinking || (turn !== undefined && now.activeAt < lastAt + longestSilenceMs)
  })
  // What was asked of a turn ends with it.
  const forget = effect(() => {
    if (!isWorking.value && asked.peek().stop !== undefined) asked.value = { ...asked.peek(), stop: undefined }
    const { mode } = asked.peek()
    if (mode !== undefined && facts.value?.mode === mode.code) asked.value = { ...asked.peek(), mode: undefined }
    if (facts.value?.presence === 'here' && asked.peek().resume !== undefined) asked.value = { ...asked.peek(), resume: undefined }
    if (facts.value?.isInTerminal === false && asked.peek().takeOver !== undefined) asked.value = { ...asked.peek(), takeOver: undefined }
  })
  const cipher = () => {
    const found = live.cipherOf(id)
    if (found === undefined) throw new CallFailed('unreadable', '')
    return found
  }
  const noteAnswer = (answer: MyAnswer): void => {
    mine.value = new Map(mine.peek()).set(answer.request.id, answer)
  }

  return {
    id,
    facts,
    transcript: messages.transcript,
    feed: messages.feed,
    older: messages.older,
    texts,
    requests,
    answered,
    lives: computed(() => livesOf(mine.value, answered.value, requests.value, me)),
    isWorking,
    asked,
    me,
    async answer(request, verdict) {
      const sending: MyAnswer = { request, verdict, at: Date.now(), state: { type: 'sending' } }
      noteAnswer(sending)
      try {
        await callSession(live.socket, cipher(), id, 'permission', answerParams(request, verdict, me))
        noteAnswer({ ...sending, state: { type: 'delivered' } })
      } catch (error) {
        const { reason, message } = failureOf(error)
        noteAnswer({ ...sending, state: { type: 'failed', why: reason, says: message } })
      }
    },
    dismiss(request) {
      const left = new Map(mine.peek())
      left.delete(request)
      mine.value = left
    },
    async stop() {
      const at = Date.now()
      asked.value = { ...asked.peek(), stop: { at, state: 'asking' } }
      const state = await callSession(live.socket, cipher(), id, 'abort', {}).then(
        () => 'asked' as const,
        () => 'failed' as const
      )
      if (isWorking.peek()) asked.value = { ...asked.peek(), stop: { at, state } }
    },
    async setMode(code) {
      asked.value = { ...asked.peek(), mode: { code, state: 'asking' } }
      const isDone = await callSession(live.socket, cipher(), id, 'setMode', { mode: code }).then(
        () => true,
        () => false
      )
      if (asked.peek().mode?.code !== code) return
      if (!isDone) asked.value = { ...asked.peek(), mode: { code, state: 'failed' } }
    },
    async end() {
      const isDone = await callSession(live.socket, cipher(), id, 'killSession', {}).then(
        ({ success }) => success,
        () => false
      )
      const helper = machine.peek()
      // A wrapper that hangs does not end itself.
      return isDone || (helper !== undefined && hasHelper(helper) && stopOnMachine(live, helper.id, id))
    },
    async resume() {
      const helper = machine.peek()
      if (helper === undefined || asked.peek().resume === 'asking') return
      asked.value = { ...asked.peek(), resume: 'asking' }
      const outcome = await resumeSession(live, helper.id, id)
      if (outcome.type === 'failed') asked.value = { ...asked.peek(), resume: outcome }
      // The helper may say so before the session itself is heard.
      else if (facts.peek()?.presence === 'here') asked.value = { ...asked.peek(), resume: undefined }
    },
    async takeOver() {
      asked.value = { ...asked.peek(), takeOver: 'asking' }
      const isDone = await callSession(live.socket, cipher(), id, 'switch', { to: 'remote' }).then(
        () => true,
        () => false
      )
      if (!isDone && facts.peek()?.isInTerminal === true) asked.value = { ...asked.peek(), takeOver: 'failed' }
    },
    loadOlder: messages.loadOlder,
    close() {
      forget()
      texts.close()
      messages.close()
    }
  }
}

// Wrappers give a sign of life every 20 s at the latest, and say with it whether they work.
const longestSilenceMs = 30_000

function failureOf(error: unknown): CallFailed {
  return error instanceof CallFailed ? error : new CallFailed('unreadable', String(error))
}

function livesOf(
  mine: ReadonlyMap<string, MyAnswer>,
  answered: readonly Answered[],
  requests: readonly OpenRequest[],
  me: string | undefined
): ReadonlyMap<string, { answer: MyAnswer; life: Life }> {
  return new Map(
    [...mine].map(([id, answer]) => {
      const known = answered.find(each => each.id === id)
      const isOpen = requests.some(request => request.id === id)
      return [id, { answer, life: lifeOf(answer, known, isOpen, me) }]
    })
  )
}
