import { randomUUID } from 'node:crypto'
import { homedir, hostname, platform } from 'node:os'
import { relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { version } from '../../assets.ts'
import type { SessionMetadata } from '../../protocol/sealed/session.ts'
import type { AgentKind, UnsentHistory } from '../agents/agent.ts'
import { agentEnvironment, type Credentials, chooseServer, type Home } from '../home/credentials.ts'
import { spareMemory, typed } from '../home/own-process.ts'
import { claimConversation, endOrphans, keepLeases } from '../home/ownership.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import { isEndedByLogout, type SessionNotes, type StartNotes } from '../home/session-notes.ts'
import type { Session, SessionEnd } from '../session/session.ts'
import { type Console, shareTerminal } from '../terminal/console.ts'
import { plain, styleFor } from '../terminal/style.ts'
import { note, openBlock, type Terminal, tell } from '../terminal/terminal.ts'
import { onInterrupts } from './interrupts.ts'
import { drawSession, type SessionView } from './session-view.ts'

export interface RunOptions {
  home: Home
  /** As given on the command line. */
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  kind: AgentKind
  directory: string
  mode?: string | undefined
  /** A conversation of the agent to continue in a new session. */
  resume?: string | undefined
  /** An ended session to resume, with the conversation of its agent. */
  earlier?: SessionFolder | undefined
  /** The tag of the session, if the daemon started this process and waits for it. */
  tag?: string | undefined
  /** The person's terminal, if an agent with its own screen starts there. */
  console?: Console | undefined
  /** The first prompt. */
  prompt?: string | undefined
  /** The model and effort to start with; the agent's defaults if omitted. */
  model?: string | undefined
  effort?: string | undefined
  /** More metadata of the session. */
  about?: StartNotes['about']
}

/**
 * Runs one agent for the phone until it is ended; the terminal shows its state. Works without a reachable server
 * once this computer has been linked. Resolves to the exit code.
 */
export async function runAgent(options: RunOptions): Promise<number> {
  try {
    return await run(options)
  } finally {
    // The agent never ran, but output in the folder may still be queued for the server.
    if (options.earlier?.notes.isStarting) options.earlier.giveBack()
  }
}

async function run(options: RunOptions): Promise<number> {
  const { home, env, terminal, kind, directory, earlier } = options
  const credentials = await credentialsFor({ ...options, server: earlier?.notes.server ?? options.server })
  keepLeases(home.path)
  await endOrphans(home.path)
  // If nothing was said, the agent may not have created a conversation.
  const resume = (earlier ? earlier.notes.metadata.agentSessionId : options.resume) || undefined
  await refuseOpen(options, resume)
  const letGo = resume === undefined ? undefined : claimConversation(home.path, resume)
  const announcement = `This session is on your phone too: ${credentials.server}`
  const screen = openScreen(options, credentials.server, announcement)
  const shared = kind.hasOwnScreen && options.console ? shareTerminal(options.console, screen, screen.bringBack) : undefined
  terminal.write(`Starting ${kind.title} …\n`)
  const sentUpTo = earlier?.notes.sentUpTo ?? undefined
  const leftUnsent = earlier && (await import('../session/cursor.ts')).readUnsent(earlier.notes)
  const past = earlier ? undefined : await readPast(options)
  const isUnsent = !earlier && resume !== undefined && !past
  const start = { directory, env: agentEnvironment(env), mode: options.mode, resume, isUnsent, sentUpTo }
  const agent = await kind.start({ ...start, screen: shared && { ...shared, prompt: options.prompt, announcement } }).catch(error => {
    shared?.close()
    screen.close()
    letGo?.()
    throw error
  })
  const { startSession, createSessionFolder, fetch, newSessionKey } = await loadSession()
  const metadata = metadataOf(options, agent.conversation)
  const folder = earlier ?? createSessionFolder(home.path, firstNotes(options, credentials.server, newSessionKey(credentials), metadata))
  const unsent = agent.unsent ?? leftUnsent ?? past
  // A process that was killed may not have recorded the last files its agent changed.
  const isCutOff = folder.notes.turn !== null || (unsent?.events.length ?? 0) > 0
  folder.note({ isStarting: false, ...(isCutOff && { knowsEdits: false }) })
  let followMemory: (() => void) | undefined
  const onChange = () => {
    screen.redraw()
    followMemory?.()
  }
  const session = await startSession({ agent, home, credentials, folder, unsent, metadata, env, fetch, onChange })
  // The agent itself reports that it has neither.
  if (options.model !== undefined) await agent.setModel?.(options.model)
  if (options.effort !== undefined) await agent.setEffort?.(options.effort)
  screen.show(session)
  const memory = spareMemory()
  followMemory = () => memory.follow(session.status.isWorking)
  let isLoggedOut = false
  const end = (by: 'person' | 'system') => {
    isLoggedOut = isEndedByLogout(folder.path)
    session.end(by)
  }
  const stopInterrupts = onInterrupts({ stopTurn: () => session.stopTurn(), end }, screen)
  const stopDelivering = new AbortController()
  const leftovers = screen.deliverEarlier(stopDelivering.signal)
  if (options.prompt && !agent.handover) await session.prompt(options.prompt)

  const { how, delivered } = await session.ended
  memory.close()
  stopDelivering.abort()
  await leftovers
  stopInterrupts()
  shared?.close()
  screen.close()
  letGo?.()
  const resumable = options.tag === undefined ? folder.notes.id : undefined
  return sayGoodbye({ terminal, how, delivered, session: resumable, loggedOutOf: isLoggedOut ? credentials.server : undefined })
}

// Linking code is loaded only if the computer is not linked yet.
async function credentialsFor({ home, server, env, terminal }: RunOptions): Promise<Credentials> {
  const chosen = server || env['AFIELD_SERVER'] || home.server
  const known = chosen === undefined ? undefined : home.credentials(chooseServer(chosen, env, home))
  return known ?? (await import('../account/login.ts')).linkFirst({ home, server, env, terminal })
}

// Only after the agent has started: two thirds of the wrapper's code, which take 200 ms or more to load, with pauses so that
// the agent's output reaches the screen.
async function loadSession() {
  const { cryptoReady } = await import('../../crypto/ready.ts')
  await setImmediate()
  const { fetch } = await import('../uplink/network.ts')
  await setImmediate()
  const { createSessionFolder } = await import('../home/session-folder.ts')
  await setImmediate()
  const [{ startSession }, { newSessionKey }] = await Promise.all([
    import('../session/session.ts'),
    import('../uplink/open.ts'),
    cryptoReady()
  ])
  return { startSession, createSessionFolder, fetch, newSessionKey }
}

// Code to read earlier conversations is not loaded for a new one, so that the agent starts soon.

async function refuseOpen({ home, env }: RunOptions, resume: string | undefined): Promise<void> {
  if (resume === undefined) return
  const { refuseOpen } = await import('../histories/open-elsewhere.ts')
  refuseOpen(home.path, resume, agentEnvironment(env))
}

async function readPast({ kind, resume, env }: RunOptions): Promise<UnsentHistory | undefined> {
  if (resume === undefined) return undefined
  const { readPast } = await import('../histories/last-turns.ts')
  return readPast(kind.flavor, resume, agentEnvironment(env))
}

function firstNotes(
  { kind, tag = randomUUID(), resume }: RunOptions,
  server: string,
  key: string | null,
  metadata: SessionMetadata
): SessionNotes {
  return { tag, server, program: kind.program, key, metadata, cursor: 0, turn: null, isNamed: true, knowsEdits: resume === undefined }
}

function metadataOf({ home, kind, directory, tag, about }: RunOptions, conversation: string): SessionMetadata {
  return {
    ...about,
    path: directory,
    host: hostname(),
    // Happy's app takes a low number here for an old version of its own CLI; metadata of an older wrapper may still contain one.
    version: undefined,
    afieldVersion: version(),
    os: platform(),
    machineId: home.machineId,
    homeDir: homedir(),
    happyHomeDir: home.path,
    happyLibDir: '',
    happyToolsDir: '',
    startedFromDaemon: tag !== undefined,
    hostPid: process.pid,
    startedBy: tag === undefined ? 'terminal' : 'daemon',
    lifecycleState: 'running',
    lifecycleStateSince: Date.now(),
    flavor: kind.flavor,
    agentTitle: kind.title,
    agentSessionId: conversation,
    ...(kind.flavor === 'claude' && { claudeSessionId: conversation }),
    ...(kind.flavor === 'codex' && { codexThreadId: conversation })
  }
}

/** The block on the terminal, and what it shows in addition to the session. */
function openScreen({ home, env, terminal, kind, directory }: RunOptions, server: string, announcement: string) {
  const style = styleFor(terminal, env)
  let session: Session | undefined
  let leftovers = 0
  let isAnnounced = false
  let stopping: SessionView['stopping'] = 'no'
  let workingSince: number | undefined

  const view = (): SessionView | undefined => {
    if (!session) return undefined
    const { status } = session
    workingSince = status.isWorking ? (workingSince ?? performance.now()) : undefined
    const workingMs = terminal.isTTY && workingSince !== undefined ? performance.now() - workingSince : 0
    return {
      ...status,
      title: kind.title,
      folder: shortPath(directory),
      server,
      workingMs,
      leftovers,
      stopping,
      isKeyboardAway: session.handover !== undefined,
      isLog: !terminal.isTTY,
      anyKey: session.handover ? 'takes it back here' : session.ownScreen && `opens ${kind.title} here again`
    }
  }
  const block = openBlock(terminal, columns => {
    const now = view()
    return now ? drawSession(now, style, columns) : []
  })
  const ticking = setInterval(() => workingSince !== undefined && terminal.isTTY && block.redraw(), 1000)
  return {
    redraw: () => block.redraw(),
    /** Called before the agent draws on the terminal. */
    suspend(): void {
      block.suspend()
      if (!isAnnounced) tell(terminal, announcement)
      isAnnounced = true
    },
    resume: () => block.resume(),
    /** Any key was pressed while the phone drives. */
    bringBack(): void {
      if (session?.handover) void session.handover.toTerminal()
      else session?.ownScreen?.open()
    },
    show(opened: Session): void {
      session = opened
      block.redraw()
    },
    showStopping(now: SessionView['stopping']): void {
      stopping = now
      block.redraw()
    },
    async deliverEarlier(signal: AbortSignal): Promise<void> {
      const { findLeftovers } = await import('../home/session-folder.ts')
      leftovers = findLeftovers(home.path).length
      if (leftovers > 0) {
        const [{ recoverUntilDone }, { fetch }] = await Promise.all([import('../session/recovery.ts'), import('../uplink/network.ts')])
        // What cannot be delivered is left to the next process, and does not end the session.
        await recoverUntilDone({ home, fetch, signal }).catch(() => {})
      }
      leftovers = 0
      block.redraw()
    },
    close(): void {
      clearInterval(ticking)
      session = undefined
      block.close()
    }
  }
}

interface Goodbye {
  terminal: Terminal
  how: SessionEnd
  delivered: boolean
  /** Undefined if no person at this terminal could continue it. */
  session: string | undefined
  /** The server, if logging out of it ended the session. */
  loggedOutOf: string | undefined
}

function sayGoodbye({ terminal, how, delivered, session, loggedOutOf }: Goodbye): number {
  const rest = delivered
    ? 'Everything was delivered.'
    : `Unsent messages stay on this computer and are delivered by the next run, or with: ${typed('flush')}`
  const again = session === undefined ? '' : howToResume(session, loggedOutOf)
  switch (how.type) {
    case 'asked':
      tell(terminal, `The session has ended. ${rest} ${again}`.trimEnd())
      return 0
    case 'elsewhere':
      tell(terminal, `${how.sentence} ${rest}`)
      return 0
    case 'agent-died': {
      const { message, lastLines } = how.died
      const last = lastLines
        .split('\n')
        .slice(-10)
        .map(plain)
        .filter(line => line !== '')
      const lastWords = last.length > 0 ? ['Its last output:', ...last.map(line => `  ${line}`)] : []
      note([`${message} ${rest}`, ...lastWords, again].join('\n').trimEnd())
      return 1
    }
  }
}

function howToResume(session: string, loggedOutOf: string | undefined): string {
  const resume = typed(`resume ${session}`)
  if (loggedOutOf === undefined) return `Resume it with:\n  ${resume}`
  return `This computer is logged out. To resume it, log in first:\n  ${typed(`login --server ${loggedOutOf}`)}\n  ${resume}`
}

function shortPath(directory: string): string {
  const below = relative(homedir(), directory)
  return below.startsWith('..') || below === directory ? directory : below === '' ? '~' : `~/${below}`
}
