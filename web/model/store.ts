import type { DaemonState, MachineMetadata } from '../../lib/protocol/sealed/machine.ts'
import type { AgentState, SessionMetadata } from '../../lib/protocol/sealed/session.ts'

/** The whole state of Home. An immutable value; only `reduce` creates a new one. */
export interface Home {
  readonly sessions: ReadonlyMap<string, SessionView>
  readonly machines: ReadonlyMap<string, MachineView>
  /** The message up to which each session was read on this device. */
  readonly seenSeq: ReadonlyMap<string, number>
  /** The sessions pinned on this device. */
  readonly pinned: ReadonlySet<string>
  /** When the server last sent everything, in ms since 1970; undefined if never. */
  readonly asOf: number | undefined
}

/** A session as this device can read it. */
export interface SessionView {
  readonly id: string
  /** Of its last message. */
  readonly seq: number
  readonly isActive: boolean
  readonly activeAt: number
  readonly isThinking: boolean
  /** The last messages that reached the machine, and that the agent read; undefined if not reported. */
  readonly deliveredSeq?: number | undefined
  readonly readSeq?: number | undefined
  readonly createdAt: number
  readonly updatedAt: number
  /** As stored on the server, wrapped for the account; null for legacy encryption. */
  readonly dataEncryptionKey: string | null
  /** Undefined: cannot be decrypted with the keys on this device. */
  readonly metadata: SessionMetadata | undefined
  /** Null: none was written yet. Undefined: cannot be decrypted. */
  readonly agentState: AgentState | null | undefined
  readonly last: LastLine | undefined
}

export interface MachineView {
  readonly id: string
  readonly isActive: boolean
  readonly activeAt: number
  readonly createdAt: number
  readonly metadata: MachineMetadata | undefined
  readonly daemonState: DaemonState | null | undefined
}

/** The last event in a session, for its row. `end` says how a turn ended if that was the last event. */
export interface LastLine {
  readonly seq: number
  readonly at: number
  readonly text: string
  readonly end?: 'completed' | 'failed' | 'cancelled'
  /** `text` is a command, that of this call; `hasRun` once it has ended. */
  readonly command?: { readonly call: string; readonly hasRun: boolean }
}

export type HomeEvent =
  | { type: 'restored'; home: Home }
  | { type: 'session'; session: Omit<SessionView, 'last'> }
  | { type: 'session-removed'; id: string }
  | { type: 'line'; id: string; line: LastLine }
  /** A step of the session ended; one that was denied or interrupted has not run. */
  | { type: 'step-ended'; id: string; call: string; hasRun: boolean }
  | { type: 'machine'; machine: MachineView }
  | { type: 'machine-removed'; id: string }
  /** The server sent everything; sessions it omitted are gone, once the list is complete. */
  | { type: 'listed'; sessions: ReadonlySet<string>; machines: ReadonlySet<string>; at: number; isWhole: boolean }
  /** Inactive sessions were added behind the others. */
  | { type: 'older'; sessions: readonly string[] }
  /** The server was restored to an older state: last lines and read marks are from the lost history. */
  | { type: 'started-over' }
  | { type: 'confirmed'; at: number }
  | { type: 'seen'; id: string; seq: number }
  | { type: 'pinned'; ids: readonly string[]; isPinned: boolean }
  | { type: 'cleared' }

export const emptyHome: Home = { sessions: new Map(), machines: new Map(), seenSeq: new Map(), pinned: new Set(), asOf: undefined }

export function reduce(home: Home, event: HomeEvent): Home {
  switch (event.type) {
    case 'restored':
      return event.home
    case 'session': {
      const last = home.sessions.get(event.session.id)?.last
      return { ...home, sessions: withEntry(home.sessions, event.session.id, { ...event.session, last }) }
    }
    case 'session-removed':
      return { ...home, sessions: withoutEntry(home.sessions, event.id), seenSeq: withoutEntry(home.seenSeq, event.id) }
    case 'line':
      return withLine(home, event.id, event.line)
    case 'step-ended':
      return withStepEnded(home, event)
    case 'machine':
      return { ...home, machines: withEntry(home.machines, event.machine.id, event.machine) }
    case 'machine-removed':
      return { ...home, machines: withoutEntry(home.machines, event.id) }
    case 'listed':
      return listed(home, event)
    case 'older':
      return withSeen(home, event.sessions)
    case 'started-over':
      return {
        ...home,
        sessions: new Map([...home.sessions].map(([id, session]) => [id, { ...session, last: undefined }])),
        seenSeq: new Map()
      }
    case 'confirmed':
      return { ...home, asOf: event.at }
    case 'seen':
      return event.seq <= (home.seenSeq.get(event.id) ?? -1) ? home : { ...home, seenSeq: withEntry(home.seenSeq, event.id, event.seq) }
    case 'pinned':
      return { ...home, pinned: withPins(home.pinned, event.ids, event.isPinned) }
    case 'cleared':
      return emptyHome
  }
}

function withLine(home: Home, id: string, line: LastLine): Home {
  const session = home.sessions.get(id)
  if (!session || (session.last && session.last.seq >= line.seq)) return home
  return { ...home, sessions: withEntry(home.sessions, id, { ...session, last: line }) }
}

function withStepEnded(home: Home, { id, call, hasRun }: Extract<HomeEvent, { type: 'step-ended' }>): Home {
  const session = home.sessions.get(id)
  if (session?.last?.command?.call !== call) return home
  const { command, ...last } = session.last
  return { ...home, sessions: withEntry(home.sessions, id, { ...session, last: hasRun ? { ...last, command: { call, hasRun } } : last }) }
}

// A device that sees the account for the first time was not there for any of it, so nothing is unread.
function listed(home: Home, { sessions, machines, at, isWhole }: Extract<HomeEvent, { type: 'listed' }>): Home {
  const kept = isWhole ? only(home.sessions, sessions) : home.sessions
  const seenSeq =
    home.asOf === undefined ? new Map([...kept].map(([id, { seq }]) => [id, seq])) : isWhole ? only(home.seenSeq, sessions) : home.seenSeq
  return { ...home, sessions: kept, machines: only(home.machines, machines), seenSeq, asOf: at }
}

// The same for sessions that this device learns of late because they have been inactive.
function withSeen(home: Home, ids: readonly string[]): Home {
  const unseen = ids.flatMap(id => {
    const session = home.sessions.get(id)
    return session && !home.seenSeq.has(id) ? [[id, session.seq] as const] : []
  })
  return unseen.length === 0 ? home : { ...home, seenSeq: new Map([...home.seenSeq, ...unseen]) }
}

function withPins(pinned: ReadonlySet<string>, ids: readonly string[], isPinned: boolean): ReadonlySet<string> {
  const next = new Set(pinned)
  for (const id of ids) isPinned ? next.add(id) : next.delete(id)
  return next
}

function withEntry<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): ReadonlyMap<string, Value> {
  return new Map(map).set(key, value)
}

function withoutEntry<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  if (!map.has(key)) return map
  const copy = new Map(map)
  copy.delete(key)
  return copy
}

function only<Value>(map: ReadonlyMap<string, Value>, keys: ReadonlySet<string>): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([key]) => keys.has(key)))
}
