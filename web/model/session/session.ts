import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { CallFailed, callSession } from '../../../lib/client/index.ts'
import type { ParamsOfCall, ResultOfCall, SessionCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import { connection } from '../../core/connection.ts'
import { photoWaitsFor } from '../../core/low-data.ts'
import type { Live } from '../account/live.ts'
import type { Trouble } from '../account/machine-call.ts'
import { noteEnding } from '../decisions/closed-decisions.ts'
import { type Answered, decisionsOf, type OpenRequest, openRequests } from '../decisions/decisions.ts'
import { answeredQuestions, type OpenQuestion, openQuestions } from '../decisions/questions.ts'
import { openSentAnswers, type SentAnswers } from '../decisions/sent-answers.ts'
import { home } from '../home.ts'
import { hasDaemon } from '../machines.ts'
import { isUnlinked } from '../sessions.ts'
import { resumeSession, stopOnMachine } from '../start-and-stop.ts'
import type { MachineView, SessionView } from '../store.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { type AskedChoices, type ChoiceName, endFullAuto, openChoices } from './choices.ts'
import { factsOf, hasComeBack, type SessionFacts } from './facts.ts'
import { openFiles, type SessionFiles } from './files.ts'
import { type Queued, queueOf } from './message-queue.ts'
import { type LoadState, openMessages } from './messages.ts'
import { type Stages, watchStages } from './stages.ts'
import { openTexts, type SessionTexts } from './texts.ts'
import { reportViewing } from './viewer.ts'

/** One open session: its state, and what a person can do in it. The screen uses nothing else. */
export interface SessionModel extends SentAnswers {
  readonly id: string
  /** Undefined if this device knows no such session. */
  readonly facts: ReadonlySignal<SessionFacts | undefined>
  readonly transcript: ReadonlySignal<Transcript>
  readonly feed: ReadonlySignal<LoadState>
  /** Whether there are messages before the first one loaded. */
  readonly older: ReadonlySignal<'none' | 'more' | 'loading' | 'failed'>
  readonly texts: SessionTexts
  /** Files of the draft, and of sent messages. */
  readonly files: SessionFiles
  /** Messages that the agent has not read, in its order. */
  readonly unread: ReadonlySignal<readonly Queued[]>
  /** The same while it works, waiting for the end of the turn. */
  readonly queue: ReadonlySignal<readonly Queued[]>
  /** Oldest first. */
  readonly requests: ReadonlySignal<readonly OpenRequest[]>
  readonly answered: ReadonlySignal<readonly Answered[]>
  /** Questions of the agent, oldest first. */
  readonly questions: ReadonlySignal<readonly OpenQuestion[]>
  /** There is no connection. */
  readonly isOffline: ReadonlySignal<boolean>
  readonly isWorking: ReadonlySignal<boolean>
  readonly asked: ReadonlySignal<AskedOf>
  readonly choices: ReadonlySignal<AskedChoices>
  /** The name of this device in its answers. */
  readonly me: string | undefined
  stop(): Promise<void>
  /** Applies from the next step on. */
  choose(name: ChoiceName, code: string): Promise<void>
  /** Files of the session's folder by parts of their names, best match first. */
  findFiles(query: string): Promise<readonly string[]>
  stagesOf(seq: number): Stages
  /** Ends the agent. Resolves to whether the machine did so. */
  end(): Promise<boolean>
  /** Resumes an ended session through the daemon of its machine. */
  resume(): Promise<void>
  /** Takes control from the terminal. */
  takeOver(): Promise<void>
  /** Loads the previous page, or everything down to the message with this number. */
  loadOlder(downTo?: number): Promise<void>
  close(): void
}

/** Requests to the agent other than prompts, and their state. */
export interface AskedOf {
  /** `at`: when it was first requested. */
  readonly stop: { readonly at: number; readonly state: 'asking' | 'asked' | 'failed'; readonly isRepeated?: boolean } | undefined
  readonly resume: 'asking' | Trouble | undefined
  readonly takeOver: 'asking' | 'failed' | undefined
}

export const askedNothing: AskedOf = { stop: undefined, resume: undefined, takeOver: undefined }

interface SessionSources {
  readonly id: string
  readonly live: Live
  readonly session: ReadonlySignal<SessionView | undefined>
  readonly machine: ReadonlySignal<MachineView | undefined>
  /** False while the account feed may be outdated. */
  readonly isLinked: ReadonlySignal<boolean>
  readonly me: string | undefined
}

export function openSession(sources: SessionSources): SessionModel {
  const { id, live, session, machine, isLinked, me } = sources
  const messages = openMessages({ id, live, session, isLinked, onGap: () => watching.ask() })
  const isOfUnlinked = computed(() => session.value !== undefined && isUnlinked(session.value, home.value))
  const facts = computed(() => session.value && factsOf(session.value, machine.value, isOfUnlinked.value))
  const cipher = () => {
    const found = live.cipherOf(id)
    if (found === undefined) throw new CallFailed('unreadable', '')
    return found
  }
  // Rejects, and never throws, if the keys of this device do not open the session.
  const call = async <Name extends SessionCall>(method: Name, params: ParamsOfCall<Name>): Promise<ResultOfCall<Name>> =>
    callSession(live.socket, cipher(), id, method, params)
  const choices = openChoices({ id, live, cipher, facts: () => facts.peek() })
  const texts = openTexts({ id, live, session, transcript: messages.transcript, wishes: choices.wishes, onSaid: choices.noteSaid })
  const files = openFiles({ id, live, waitsFor: photoWaitsFor })
  const stages = watchStages(facts)
  const watching = reportViewing({ id, live, facts })
  const state = computed(() => session.value?.agentState ?? undefined)
  const requests = computed(() => (session.value?.isActive === true ? openRequests(state.value) : []))
  const answered = computed(() => [...decisionsOf(state.value), ...answeredQuestions(state.value)])
  const asking = openSentAnswers(sources, { requests, answered })
  const asked = signal(askedNothing)
  // Happy's daemon reports success if the process it found was about to end.
  let heardOf: ReturnType<typeof setTimeout> | undefined
  // When its wrapper was last seen before the resume.
  let goneSince = 0
  const neverHeard = (): void => {
    if (asked.peek().resume === 'asking') asked.value = { ...asked.peek(), resume: { type: 'failed', why: 'no-answer', says: '' } }
  }

  const isWorking = computed(() => {
    const now = facts.value
    if (now === undefined || now.presence !== 'here') return false
    const { turn, items } = messages.transcript.value
    // The wrapper has since reported that it is idle: the turn was cut off and never ended.
    const lastAt = Math.max(turn?.startedAt ?? 0, items.at(-1)?.at ?? 0)
    return now.isThinking || (turn !== undefined && now.activeAt < lastAt + longestSilenceMs)
  })
  // Requests about a turn end with it.
  const forget = effect(() => {
    if (!isWorking.value && asked.peek().stop !== undefined) asked.value = { ...asked.peek(), stop: undefined }
    choices.noteFacts(facts.value)
    choices.noteTurns(messages.transcript.value, isWorking.value)
    const { resume } = asked.peek()
    const isBack = facts.value?.presence === 'here' || (resume === 'asking' && facts.value && hasComeBack(facts.value, goneSince))
    if (isBack && resume !== undefined) asked.value = { ...asked.peek(), resume: undefined }
    if (facts.value?.isInTerminal === false && asked.peek().takeOver !== undefined) asked.value = { ...asked.peek(), takeOver: undefined }
  })
  const unread = computed(() => {
    const { value: now } = facts
    const { waiting, takenBack, moves } = texts
    const said = { transcript: messages.transcript.value, waiting: waiting.value, takenBack: takenBack.value, moves: moves.value }
    return now === undefined ? [] : queueOf({ ...said, facts: now })
  })

  return {
    ...asking,
    id,
    facts,
    transcript: messages.transcript,
    feed: messages.feed,
    older: messages.older,
    texts,
    files,
    unread,
    queue: computed(() => (isWorking.value ? unread.value : [])),
    requests,
    answered,
    questions: computed(() => (session.value?.isActive === true ? openQuestions(state.value) : [])),
    isOffline: computed(() => connection.value.type === 'offline' || connection.value.type === 'silent'),
    isWorking,
    asked,
    choices: choices.asked,
    choose: choices.choose,
    stagesOf: stages.of,
    me,
    async stop() {
      const before = asked.peek().stop
      const known = before === undefined ? { at: Date.now() } : { at: before.at, isRepeated: true }
      asked.value = { ...asked.peek(), stop: { ...known, state: 'asking' } }
      const state = await call('abort', {}).then(
        () => 'asked' as const,
        () => 'failed' as const
      )
      if (isWorking.peek()) asked.value = { ...asked.peek(), stop: { ...known, state } }
    },
    async findFiles(query) {
      if (!facts.peek()?.methods?.includes('findFiles')) return []
      const { paths } = await call('findFiles', { query, limit: mostFound })
      return paths
    },
    async end() {
      noteEnding(id)
      const isDone = await call('killSession', {}).then(
        ({ success }) => success,
        () => false
      )
      const daemon = machine.peek()
      // A wrapper that hangs does not end itself.
      const isEnded = isDone || (daemon !== undefined && hasDaemon(daemon) && (await stopOnMachine(live, daemon.id, id)))
      if (!isEnded) noteEnding(id, false)
      return isEnded
    },
    async resume() {
      const daemon = machine.peek()
      if (daemon === undefined || asked.peek().resume === 'asking') return
      clearTimeout(heardOf)
      goneSince = facts.peek()?.activeAt ?? 0
      asked.value = { ...asked.peek(), resume: 'asking' }
      const isReset = await endFullAuto(live, id, session.peek()?.metadata).then(
        () => true,
        () => false
      )
      if (!isReset) {
        asked.value = { ...asked.peek(), resume: { type: 'failed', why: 'no-answer', says: '' } }
        return
      }
      const outcome = await resumeSession(live, daemon.id, id)
      if (outcome.type === 'failed') {
        // It may have resumed although its daemon could not report it.
        if (facts.peek()?.presence !== 'here') asked.value = { ...asked.peek(), resume: outcome }
        return
      }
      // The daemon may report it before the session itself is seen.
      if (asked.peek().resume === 'asking') heardOf = setTimeout(neverHeard, heardWithinMs)
    },
    async takeOver() {
      asked.value = { ...asked.peek(), takeOver: 'asking' }
      const isDone = await call('switch', { to: 'remote' }).then(
        () => true,
        () => false
      )
      if (!isDone && facts.peek()?.isInTerminal === true) asked.value = { ...asked.peek(), takeOver: 'failed' }
    },
    loadOlder: messages.loadOlder,
    close() {
      clearTimeout(heardOf)
      forget()
      watching.stop()
      files.close()
      stages.close()
      texts.close()
      messages.close()
    }
  }
}

const mostFound = 8
const heardWithinMs = 20_000
// Wrappers send a heartbeat at least every 20 s, which says whether they are working.
const longestSilenceMs = 30_000
