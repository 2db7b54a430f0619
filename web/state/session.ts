import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { CallFailed, callSession, openFeed, openMessage, openPartial } from '../../lib/client/index.ts'
import type { MessageRecord } from '../../lib/protocol/wire/records.ts'
import type { Live } from './live.ts'
import { hasHelper } from './machines.ts'
import { answerParams, type Life, lifeOf, type MyAnswer, type Verdict } from './session-answers.ts'
import { type Answered, decisionsOf, type OpenRequest, openRequests } from './session-decisions.ts'
import { factsOf, type SessionFacts } from './session-facts.ts'
import { openHistory } from './session-history.ts'
import { openTexts, type SessionTexts } from './session-texts.ts'
import { resumeSession, stopOnMachine, type Trouble } from './starting.ts'
import type { MachineView, SessionView } from './store.ts'
import { addMessages, addPartial, emptyTranscript, type KnownMessage, type Transcript } from './transcript.ts'

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

/** `opening`: nothing is known yet. `stale`: how it stood when the link was lost. */
export type FeedWord = 'opening' | 'catching-up' | 'live' | 'stale' | 'deleted'

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
  const messages = openMessages(id, live, () => ({ seq: session.peek()?.seq ?? 0, isCertain: isLinked.peek() }))
  const texts = openTexts(id, live, messages.transcript)
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
    feed: computed(() => (messages.feed.value === 'live' && !isLinked.value ? 'stale' : messages.feed.value)),
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
const pageSize = 100
/** Further behind than this, the newest page is read instead of all that was missed. */
const mostToCatchUp = 400
const sliceMs = 10

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

/** The messages of a session as a transcript: what this device kept first, then what the server has. */
function openMessages(id: string, live: Live, newest: () => { seq: number; isCertain: boolean }) {
  const transcript = signal<Transcript>(emptyTranscript)
  const feed = signal<FeedWord>('opening')
  const older = signal<'none' | 'more' | 'loading' | 'failed'>('none')
  const history = openHistory(id)
  let records: MessageRecord[] = []
  let reader: ReturnType<typeof openFeed> | undefined
  let isClosed = false

  const opener = createOpener(id, live, opened => {
    transcript.value = addMessages(transcript.peek(), opened)
    const first = transcript.peek().messages[0]
    if (older.peek() !== 'loading') older.value = first !== undefined && first.seq > 1 ? 'more' : 'none'
  })
  const take = (news: readonly MessageRecord[]): void => {
    records = [...records, ...news].slice(-mostToCatchUp)
    history.keep(records)
    opener.open(news)
  }

  const unstored = live.onStored((stored, session) => {
    if (session === id) reader?.take(stored)
  })
  const unpartial = live.socket.onEphemeral(ephemeral => {
    if (ephemeral.type !== 'partial' || ephemeral.sid !== id) return
    const cipher = live.cipherOf(id)
    const partial = cipher && openPartial(cipher, ephemeral.partial)
    // A partial must not overtake the stored text that ended it.
    if (partial) opener.afterwards(() => (transcript.value = addPartial(transcript.peek(), { ...partial, at: Date.now() })))
  })

  const begin = async (): Promise<void> => {
    const kept = await history.read()
    if (isClosed) return
    const last = kept.at(-1)
    const { seq, isCertain } = newest()
    // A server that was set back to an older copy numbers anew: then what is kept here is another story.
    const isAhead = last !== undefined && isCertain && last.seq > seq
    const isNear = last !== undefined && !isAhead && seq - last.seq <= mostToCatchUp
    if (isNear) {
      records = kept
      opener.open(kept)
    }
    reader = openFeed({
      rest: live.rest,
      socket: live.socket,
      session: id,
      after: isNear ? last.seq : 'end',
      pageSize,
      onMessages: take,
      onState: state => opener.afterwards(() => noteState(state.type))
    })
    noteState(reader.state.type)
  }
  const noteState = (state: 'catching-up' | 'live' | 'away' | 'ended' | 'closed'): void => {
    const isKnown = transcript.peek().messages.length > 0
    if (state === 'live') feed.value = 'live'
    else if (state === 'ended') feed.value = 'deleted'
    else if (state === 'away') feed.value = isKnown ? 'stale' : 'opening'
    else if (state === 'catching-up') feed.value = isKnown ? 'catching-up' : 'opening'
    if (state === 'ended') void history.forget()
  }
  void begin()

  return {
    transcript,
    feed,
    older,
    async loadOlder(): Promise<void> {
      const first = transcript.peek().messages[0]
      if (reader === undefined || first === undefined || older.peek() === 'loading' || older.peek() === 'none') return
      older.value = 'loading'
      try {
        const page = await reader.readBefore(first.seq, pageSize)
        await opener.openNow(page.messages)
        older.value = page.hasMore ? 'more' : 'none'
      } catch {
        older.value = 'failed'
      }
    },
    close(): void {
      isClosed = true
      unstored()
      unpartial()
      reader?.close()
      void history.flush()
    }
  }
}

/** Opens sealed messages in slices, so that a long page never holds up the screen; hands over what it opened once a batch is whole. */
function createOpener(id: string, live: Live, onOpened: (opened: KnownMessage[]) => void) {
  const queue: MessageRecord[] = []
  let opened: KnownMessage[] = []
  let later: (() => void)[] = []
  let isRunning = false

  const run = (): void => {
    const until = performance.now() + sliceMs
    const cipher = live.cipherOf(id)
    while (queue.length > 0 && performance.now() < until) {
      const [record] = queue.splice(0, 1)
      if (record) opened.push(known(record, cipher))
    }
    if (queue.length > 0) {
      setTimeout(run, 0)
      return
    }
    isRunning = false
    const batch = opened
    const after = later
    opened = []
    later = []
    if (batch.length > 0) onOpened(batch)
    for (const each of after) each()
  }
  const start = (): void => {
    if (isRunning) return
    isRunning = true
    setTimeout(run, 0)
  }
  return {
    open(records: readonly MessageRecord[]): void {
      queue.push(...records)
      start()
    },
    /** Once everything taken so far is handed over. */
    afterwards(then: () => void): void {
      later.push(then)
      start()
    },
    openNow(records: readonly MessageRecord[]): Promise<void> {
      return new Promise(resolve => {
        queue.push(...records)
        later.push(resolve)
        start()
      })
    }
  }
}

function known(record: MessageRecord, cipher: ReturnType<Live['cipherOf']>): KnownMessage {
  const { seq, localId, createdAt } = record
  const read = cipher === undefined ? { ok: false as const, reason: 'unreadable' as const } : openMessage(cipher, record)
  return read.ok ? { seq, localId, at: createdAt, body: read.body } : { seq, localId, at: createdAt, body: undefined, closed: read.reason }
}
