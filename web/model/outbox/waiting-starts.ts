import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { DeviceDb } from '../../core/device-db.ts'
import { keptList } from '../../core/kept-list.ts'
import type { Trouble } from '../account/asking-machine.ts'
import type { ServerLink } from '../account/server-link.ts'
import { hasHelper } from '../machines.ts'
import type { AskedStart, sayFirst, startSession } from '../starting.ts'
import type { MachineView } from '../store.ts'

/** A session that shall begin once its machine can be reached. */
export interface WaitingStart {
  readonly key: string
  readonly machine: string
  /** What a person calls the agent. */
  readonly agent: string
  readonly asked: AskedStart
  /** The first message; may be empty. */
  readonly text: string
  readonly at: number
  /** Only what waits begins by itself: of what was asked for, nobody knows here whether it was done. */
  readonly state: { readonly type: 'waiting' | 'starting' } | { readonly type: 'wants-folder' } | Trouble
}

/** Sessions that begin by themselves as soon as there is a link to their machine. Kept on this device, also while the app is closed. */
export interface WaitingStarts {
  /** Oldest first. */
  readonly all: ReadonlySignal<readonly WaitingStart[]>
  /** Rejects when it cannot be kept. */
  put(start: Pick<WaitingStart, 'machine' | 'agent' | 'asked' | 'text'>): Promise<void>
  withdraw(key: string): Promise<void>
  /** Changes the first message of one that has not begun. */
  say(key: string, text: string): Promise<void>
  /** Puts one that did not begin back into the queue. */
  tryAgain(key: string, mayMakeFolder?: boolean): Promise<void>
  /** Resolves when what an earlier start of the app left is in `all`. */
  readonly isRead: Promise<void>
  close(): void
}

export interface StartSources {
  readonly link: Pick<ServerLink, 'socket' | 'feed' | 'cipherOf' | 'cipherOfMachine' | 'outbox'>
  readonly machines: ReadonlySignal<ReadonlyMap<string, MachineView>>
  /** False while what the account feed told may be old. */
  readonly isLinked: ReadonlySignal<boolean>
  readonly db?: () => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>>
  readonly begin: typeof startSession
  readonly say: typeof sayFirst
}

export function openStarts(sources: StartSources): WaitingStarts {
  const { link, machines, isLinked, db, begin, say } = sources
  const kept = keptList<WaitingStart>('starts', db)
  const all = signal<readonly WaitingStart[]>([])
  const note = (start: WaitingStart): void => {
    all.value = all.peek().map(each => (each.key === start.key ? start : each))
  }
  const forget = (key: string): void => {
    all.value = all.peek().filter(each => each.key !== key)
  }
  /** Here and in what is kept. */
  const enter = async (start: WaitingStart, state: WaitingStart['state']): Promise<void> => {
    note({ ...start, state })
    await kept.change(start.key, before => before && { ...start, state }).catch(() => {})
  }

  const start = async (waiting: WaitingStart): Promise<void> => {
    const { key, machine, asked, text } = waiting
    note({ ...waiting, state: { type: 'starting' } })
    // Once only: whichever tab is first says so before it asks.
    const before = await kept.change(key, entry => (entry?.state.type === 'waiting' ? { ...entry, state: { type: 'starting' } } : entry))
    if (before?.state.type !== 'waiting') return forget(key)
    const outcome = await begin(link, machine, asked)
    if (outcome.type === 'wants-folder') return enter(waiting, { type: 'wants-folder' })
    // Nothing was done: it waits on.
    if (outcome.type === 'failed')
      return enter(waiting, outcome.why === 'away' || outcome.why === 'not-connected' ? { type: 'waiting' } : outcome)
    await say(link, outcome.id, text, asked)
    await kept.drop(key).catch(() => {})
    forget(key)
  }

  const hasRead = signal(false)
  const isRead = kept
    .read()
    .catch(() => [])
    .then(list => {
      const known = new Set(all.peek().map(({ key }) => key))
      all.value = [...list.filter(({ key }) => !known.has(key)).map(asLeft), ...all.peek()]
      hasRead.value = true
    })
  const wanted = signal(0)
  const stop = effect(() => {
    wanted.value
    const known = machines.value
    if (!isLinked.value || !hasRead.value) return
    for (const waiting of all.peek()) {
      const machine = known.get(waiting.machine)
      if (waiting.state.type === 'waiting' && machine && hasHelper(machine)) void start(waiting).catch(() => forget(waiting.key))
    }
  })

  return {
    all,
    isRead,
    async put(given) {
      const entry: WaitingStart = { ...given, key: crypto.randomUUID(), at: Date.now(), state: { type: 'waiting' } }
      await kept.put(entry)
      all.value = [...all.peek(), entry]
      wanted.value++
    },
    async withdraw(key) {
      forget(key)
      await kept.drop(key)
    },
    async say(key, text) {
      const before = await kept.change(key, entry => (entry && entry.state.type !== 'starting' ? { ...entry, text } : entry))
      const now = all.peek().find(each => each.key === key)
      if (before && before.state.type !== 'starting' && now) note({ ...now, text })
    },
    async tryAgain(key, mayMakeFolder = false) {
      const entry = all.peek().find(each => each.key === key)
      if (entry === undefined) return
      await enter({ ...entry, asked: { ...entry.asked, mayMakeFolder } }, { type: 'waiting' })
      wanted.value++
    },
    close: stop
  }
}

// The app was closed between the question and its answer.
function asLeft(start: WaitingStart): WaitingStart {
  return start.state.type === 'starting' ? { ...start, state: { type: 'failed', why: 'no-answer', says: '' } } : start
}
