import { pause } from '../../../async/pause.ts'
import * as v from '../../../schema.ts'
import type { AgentEvent, StartAgent, UnsentHistory } from '../agent.ts'
import { lastTurn, type Place, placeOf, readPlace, readUnsent, turnsAfter } from './history.ts'
import { cautious, type Settings } from './options.ts'
import type { Requests } from './requests.ts'
import { type Line, Refused } from './server.ts'
import { codexWindows, joinedThread, type Notification, openedThread, readThread, type Thread, type Turn } from './shapes.ts'
import type { Turns } from './turns.ts'

interface ThreadsOptions {
  line: Line
  how: Pick<StartAgent, 'directory' | 'sentUpTo'>
  turns: Turns
  requests: Requests
  settings(): Settings | undefined
  /** Undefined without a screen. */
  screen(): { readonly isOpen: boolean } | undefined
  emit(event: AgentEvent): void
  isOurs(clientId: string | undefined): boolean
  /** The unsent part of the resumed thread; undefined once it is another thread. */
  onUnsent(unsent: UnsentHistory | undefined): void
}

/** Codex's current thread, and its events. */
export interface Threads {
  /** Empty before the first. */
  readonly conversation: string
  /** Resolves when there is one. */
  readonly hasOne: Promise<void>
  /** One that this process starts. */
  begin(): Promise<void>
  /** False if Codex does not have it: it never had a message, or was lost, which is reported. */
  resume(id: string): Promise<boolean>
  /** Creates a second one with the same history, which nobody follows; resolves to its id. */
  fork(): Promise<string>
  /** Follows it from now on, and sends what was missed. */
  join(): Promise<void>
  hear(notification: Notification): void
  /** A step's request comes after its earlier events, even while those are still being read. */
  hearAsked(ask: () => void): void
  /** No turn runs any more: the screen may have gone elsewhere meanwhile. */
  goOn(): void
}

export function createThreads(options: ThreadsOptions): Threads {
  return new CodexThreads(options)
}

const joinEveryMs = 50
const mostJoins = 200

class CodexThreads implements Threads {
  conversation = ''
  readonly #options: ThreadsOptions
  readonly #hasOne = Promise.withResolvers<void>()
  #hasUnsent = false
  /** Before its first turn, only the creator of a thread knows of it. */
  #isJoined = false
  /** Events that arrive while the beginning of a turn is being read are sent after it. */
  #later: (() => void)[] | undefined
  #isBeginning = false
  /** The screen's thread, while a turn of this one still runs. */
  #next: Thread | undefined

  constructor(options: ThreadsOptions) {
    this.#options = options
  }

  get hasOne(): Promise<void> {
    return this.#hasOne.promise
  }

  async begin(): Promise<void> {
    const { thread, model, reasoningEffort } = await this.#opened('thread/start', { cwd: this.#options.how.directory, ...cautious })
    this.#isJoined = true
    await this.#goTo({ ...thread, model, reasoningEffort })
  }

  async resume(id: string): Promise<boolean> {
    const { line, how, isOurs, onUnsent, emit } = this.#options
    const sent = how.sentUpTo && readPlace(how.sentUpTo)
    const at = { threadId: id, excludeTurns: true, cwd: how.directory, ...cautious }
    const resumed = await line.request('thread/resume', at).catch(error => {
      if (error instanceof Refused && /no rollout/.test(error.message)) return undefined
      throw error
    })
    if (resumed === undefined) {
      const wasEmpty = sent?.thread === id && sent.turn === undefined
      if (!wasEmpty) emit({ type: 'notice', text: 'Codex no longer has this conversation, so a new one starts.' })
      return false
    }
    const { thread, model, reasoningEffort } = v.parse(openedThread, resumed)
    const last = await lastTurn(line, id)
    if (sent?.thread === id) {
      onUnsent(await readUnsent(line, sent, isOurs))
      this.#hasUnsent = true
    }
    this.#isJoined = true
    await this.#goTo({ ...thread, model, reasoningEffort }, { thread: id, turn: last?.id, isSent: true })
    return true
  }

  async fork(): Promise<string> {
    const { thread } = await this.#opened('thread/fork', { threadId: this.conversation, excludeTurns: true })
    return thread.id
  }

  async join(): Promise<void> {
    if (this.#isJoined || this.#later) return
    await this.#first(() => this.#catchUp())
  }

  hear(notification: Notification): void {
    this.#inOrder(() => this.#take(notification))
  }

  hearAsked(ask: () => void): void {
    this.#inOrder(ask)
  }

  goOn(): void {
    const next = this.#next
    this.#next = undefined
    if (next) void this.#follow(next).catch(() => {})
  }

  /** Codex reports it like one started by the screen. */
  async #opened(method: 'thread/start' | 'thread/fork', params: object) {
    this.#isBeginning = true
    try {
      return v.parse(openedThread, await this.#options.line.request(method, params))
    } finally {
      this.#isBeginning = false
    }
  }

  async #goTo({ id, model, reasoningEffort }: Thread, place: Place = { thread: id, turn: undefined, isSent: false }): Promise<void> {
    const { turns, screen, settings, emit } = this.#options
    const isOther = this.conversation !== id && this.conversation !== ''
    this.conversation = id
    turns.goTo(place)
    if (isOther || screen()) emit({ type: 'conversation', id })
    if (!this.#hasUnsent) emit({ type: 'history-read', upTo: placeOf(place) })
    settings()?.began({ model: model ?? undefined, effort: reasoningEffort ?? undefined })
    await settings()?.apply(id)
    this.#hasOne.resolve()
  }

  /** The screen switched to another thread, or to its first. */
  async #follow(thread: Thread, place?: Place): Promise<void> {
    if (this.#options.turns.running !== undefined) {
      this.#next = thread
      return
    }
    this.#isJoined = false
    this.#hasUnsent = false
    this.#options.onUnsent(undefined)
    await this.#goTo(thread, place)
  }

  /** An active thread: it is the screen's current one, unless it belongs to a subagent of Codex. */
  async #lookAt(id: string): Promise<void> {
    const { line, turns } = this.#options
    const heardAt = Math.floor(Date.now() / 1000)
    const read = await line.request('thread/read', { threadId: id }).catch(() => undefined)
    const { data } = v.safeParse(readThread, read)
    if (!data || !isPersons(data.thread) || turns.running !== undefined) return
    const last = await lastTurn(line, id).catch(() => undefined)
    // Started steps may have ended before they could be read.
    const isNew = last !== undefined && (last.status === 'inProgress' || (last.completedAt ?? 0) >= heardAt)
    if (this.#later) return
    // It may be one already followed, whose turn has advanced meanwhile.
    await this.#first(async () => {
      await this.#follow(data.thread, { thread: id, turn: last?.id, isSent: !isNew })
      if (this.conversation === id) await this.#catchUp()
    })
  }

  async #catchUp(): Promise<void> {
    const { line, turns } = this.#options
    const last = await this.#subscribe()
    for (const turn of await turnsAfter(line, turns.place)) turns.tell(turn)
    if (last) turns.tellOpen(last)
  }

  #inOrder(work: () => void): void {
    if (this.#later) this.#later.push(work)
    else work()
  }

  /** Events that arrive meanwhile are sent after it. */
  async #first(work: () => Promise<void>): Promise<void> {
    const later: (() => void)[] = []
    this.#later = later
    try {
      await work()
    } finally {
      this.#later = undefined
      for (const work of later) work()
    }
  }

  /** Resolves to its last turn including running steps: the recording only has finished ones. */
  async #subscribe(): Promise<Turn | undefined> {
    const initialTurnsPage = { limit: 1, sortDirection: 'desc', itemsView: 'full' }
    for (let tries = 1; ; tries++) {
      try {
        const at = { threadId: this.conversation, excludeTurns: true, initialTurnsPage }
        const joined = v.parse(joinedThread, await this.#options.line.request('thread/resume', at))
        this.#isJoined = true
        return joined.initialTurnsPage?.data[0]
      } catch (error) {
        // It is recorded only once its first turn has begun.
        if (!(error instanceof Refused) || tries === mostJoins) throw error
        await pause(joinEveryMs)
      }
    }
  }

  #take(notification: Notification): void {
    const { screen, requests, turns } = this.#options
    const { method, params } = notification
    if (method === 'account/rateLimits/updated') {
      const windows = codexWindows(params.rateLimits)
      if (windows.length > 0) this.#options.emit({ type: 'usage-windows', windows })
      return
    }
    if (method === 'thread/started') {
      const { thread } = params
      if (screen()?.isOpen && !this.#isBeginning && thread.id !== this.conversation && isPersons(thread)) void this.#follow(thread)
      return
    }
    if (method === 'thread/status/changed' && params.status.type === 'active') {
      if (params.threadId === this.conversation) void this.join().catch(() => {})
      else if (screen()?.isOpen) void this.#lookAt(params.threadId).catch(() => {})
      return
    }
    if (method === 'serverRequest/resolved') requests.resolved(params.requestId)
    if (params.threadId === this.conversation) turns.take(notification)
  }
}

/** None of those in which Codex itself works: for a title, or a subagent. */
function isPersons({ ephemeral, parentThreadId }: Thread): boolean {
  return !ephemeral && !parentThreadId
}
