import type { Clock } from '../../../async/clock.ts'
import { withDeadline } from '../../../async/deadline.ts'
import { pause } from '../../../async/pause.ts'
import { BoundedQueue } from '../../../async/queue.ts'
import {
  type Agent,
  AgentDied,
  type AgentEvent,
  type Answers,
  type Image,
  type OwnScreen,
  type StartAgent,
  type UnsentHistory
} from '../agent.ts'
import { type AttachedScreen, attachScreen } from '../attached-screen.ts'
import { newerThanTested } from '../programs.ts'
import { commandsOf, forkConversation, historyOf, isIdleNow, newConversation, readOptions, say, waitingNow } from './conversation.ts'
import { readPast, readSince } from './history.ts'
import { createMirror, type Mirror } from './mirror.ts'
import type { OpencodeChoices } from './options.ts'
import { Refused } from './refusals.ts'
import type { OpencodeServer } from './server.ts'
import type { ServerEvent } from './shapes.ts'

interface SharedOpencodeOptions {
  server: OpencodeServer
  /** The program for its own screen. */
  program: string
  how: StartAgent
  clock?: Clock
}

/**
 * One conversation of an opencode server, shared by its own screen at the person's terminal and the phone.
 * Everything that opencode stores is sent, wherever it was written.
 */
export async function startShared(options: SharedOpencodeOptions): Promise<Agent> {
  const agent = new SharedOpencode(options)
  await agent.open()
  return agent
}

const slowReader = 64
const stopWithinMs = 3_000
const lookAgainMs = 100

class SharedOpencode implements Agent {
  readonly version: string
  readonly takesImages = true
  readonly writesDown = true
  readonly hearsReasons = true
  unsent?: UnsentHistory
  ownScreen?: OwnScreen
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly #server: OpencodeServer
  readonly #options: SharedOpencodeOptions
  readonly #mirror: Mirror
  #choices: OpencodeChoices | undefined
  #commands: readonly string[] = []
  #screen: AttachedScreen | undefined
  /** It never had a message. */
  #isEmpty = false
  #isStopping = false

  constructor(options: SharedOpencodeOptions) {
    const { server } = options
    this.#options = options
    this.#server = server
    this.version = server.version
    this.#mirror = createMirror({ emit: event => this.#emit(event), post: (path, body) => server.send('POST', path, body) })
    void server.ended.then(how => this.#finish(how))
  }

  get conversation(): string {
    return this.#mirror.conversation
  }

  async open(): Promise<void> {
    const { how } = this.#options
    await this.#openConversation(how)
    await this.#listen()
    this.#choices = await readOptions(this.#server, event => this.#emit(event))
    this.#mirror.use(this.#choices)
    this.#choices.beginIn(how.mode)
    this.#choices.tell()
    const commands = await commandsOf(this.#server)
    this.#commands = commands.map(({ name }) => name)
    this.#emit({ type: 'commands', commands })
    const warning = newerThanTested('opencode', 'opencode', this.version)
    if (warning !== undefined) this.#emit({ type: 'notice', text: warning })
    if (how.screen) this.#openScreen(how.screen)
  }

  async prompt(text: string, images: readonly Image[] = []): Promise<boolean> {
    await this.#mirror.turnEnded
    if (this.#isStopping) return false
    this.#mirror.beginTurn()
    try {
      await this.#say(text, images)
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.#mirror.forgetTurn()
        return false
      }
      this.#mirror.endTurn({ reason: 'failed', error: error.message })
    }
    return true
  }

  async steer(text: string, images: readonly Image[] = []): Promise<boolean> {
    if (!this.#mirror.turnEnded || this.#isStopping) return false
    return this.#say(text, images).then(
      () => true,
      () => false
    )
  }

  answer(ask: string, choice: string, reason?: string): boolean {
    const answered = this.#mirror.requests.answer(ask, choice, reason)
    if (answered?.isNo) this.#mirror.deny(answered.call)
    return answered !== undefined
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    return this.#mirror.requests.answerQuestion(ask, answers)
  }

  async setMode(mode: string): Promise<boolean> {
    return !this.#isStopping && (this.#choices?.setMode(mode) ?? false)
  }

  async setModel(model: string): Promise<boolean> {
    return this.#choices?.setModel(model) ?? false
  }

  async setEffort(effort: string): Promise<boolean> {
    return this.#choices?.setEffort(effort) ?? false
  }

  fork(): Promise<string> {
    return forkConversation(this.#server, this.conversation)
  }

  async cancel(): Promise<void> {
    const { turnEnded } = this.#mirror
    this.#mirror.requests.closeAll()
    if (!turnEnded) return
    await this.#server.send('POST', `/session/${this.conversation}/abort`).catch(() => {})
    await withDeadline(stopWithinMs, () => turnEnded, { clock: this.#options.clock }).catch(() => {})
    if (this.#mirror.turnEnded === turnEnded) this.#mirror.endTurn({ reason: 'cancelled' })
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return void (await this.#server.ended)
    this.#isStopping = true
    await this.#screen?.close()
    await this.cancel()
    // An empty conversation in the list helps nobody.
    if (this.#isEmpty) await this.#server.send('DELETE', `/session/${this.conversation}`).catch(() => {})
    await this.#server.end()
    this.events.close()
  }

  async #openConversation({ resume, isUnsent, sentUpTo }: StartAgent): Promise<void> {
    const history = resume === undefined ? undefined : await historyOf(this.#server, resume)
    if (resume !== undefined && history) {
      if (sentUpTo?.file === resume) this.unsent = readSince(sentUpTo, history)
      else if (isUnsent) this.unsent = readPast(resume, history)
      this.#mirror.follow(resume, history.at(-1)?.info.time.created ?? 0)
      return
    }
    const opened = await newConversation(this.#server)
    this.#isEmpty = true
    if (resume !== undefined) this.#emit({ type: 'conversation', id: opened })
    // One without messages was not stored, and nothing is lost.
    if (resume !== undefined && sentUpTo?.offset !== 0) {
      this.#emit({ type: 'notice', text: 'opencode no longer has this conversation, so a new one starts.' })
    }
    this.#mirror.follow(opened, 0)
  }

  #openScreen(screen: NonNullable<StartAgent['screen']>): void {
    const { program, how } = this.#options
    const { url, password } = this.#server
    this.#screen = attachScreen({
      screen,
      program: () => ({
        command: program,
        args: ['attach', url, '--session', this.conversation, '--dir', how.directory],
        directory: how.directory,
        env: { ...how.env, OPENCODE_SERVER_PASSWORD: password }
      }),
      onClosed: problem => {
        if (problem === undefined) this.events.close()
        else this.#emit({ type: 'notice', text: `The screen of opencode was closed (${problem}). The session continues on your phone.` })
      }
    })
    this.ownScreen = this.#screen
    this.#screen.open()
  }

  #say(text: string, images: readonly Image[]): Promise<void> {
    const { conversation } = this
    const chosen = this.#choices?.chosen ?? { agent: 'build' }
    return say(this.#server, { conversation, text, images, chosen, commands: this.#commands })
  }

  /** Resolves once nothing can be missed. A connection cut while the server lives is reopened. */
  async #listen(): Promise<void> {
    const { promise: isOpen, resolve } = Promise.withResolvers<void>()
    void (async () => {
      for (let times = 0; !this.#isStopping; times++) {
        let isWhole = Promise.resolve()
        const onOpen = () => {
          if (times === 0) resolve()
          else isWhole = this.#catchUp()
        }
        // Nothing new is sent before what was missed.
        const take = (event: ServerEvent) => void isWhole.then(() => this.#mirror.take(event))
        await this.#server.listen(take, onOpen).catch(() => {})
        await pause(lookAgainMs)
      }
    })()
    await Promise.race([isOpen, this.#server.ended])
  }

  async #catchUp(): Promise<void> {
    // In this order: waiting requests are in stored messages, and an idle conversation has stored
    // everything.
    const waiting = await waitingNow(this.#server).catch(() => undefined)
    const isIdle = await isIdleNow(this.#server, this.conversation).catch(() => undefined)
    const history = await historyOf(this.#server, this.conversation).catch(() => undefined)
    if (history) this.#mirror.catchUp({ history, isIdle, waiting })
  }

  #emit(event: AgentEvent): void {
    // Growing text comes again with the next piece, so a slow reader may skip some.
    if (event.type === 'text-grew' && this.events.length > slowReader) return
    if (event.type === 'prompted') this.#isEmpty = false
    this.events.offer(event)
  }

  async #finish(how: string): Promise<void> {
    if (this.#isStopping) {
      this.#mirror.endTurn({ reason: 'cancelled' })
      return
    }
    this.#mirror.endTurn({ reason: 'failed', error: `opencode exited unexpectedly (${how}).` }, true)
    this.#isStopping = true
    await this.#screen?.close()
    this.events.fail(new AgentDied(how, this.#server.lastLines()))
  }
}
