import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import {
  type AccountFeed,
  type AccountVault,
  type AppState,
  accountVault,
  createNumbers,
  createRest,
  cryptoReady,
  type Draft,
  giveUpDraft,
  type KeeperOptions,
  keepToken,
  type LiveSocket,
  type Numbers,
  openAccountFeed,
  openOutbox,
  openSocket,
  type Refused,
  type Rest,
  sendOver
} from '../../../lib/client/index.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import { isStale, noteLink, watchDevice } from '../../core/connection.ts'
import { deviceDb } from '../../core/device-db.ts'
import { noteServerSpace } from '../../core/free-space.ts'
import { isOn } from '../../core/preferences.ts'
import { home, updateHome } from '../home.ts'
import { type DeviceQueue, openDeviceQueue } from '../outbox/kinds.ts'
import { sendFirstMessage, startSession } from '../start-and-stop.ts'
import { followLines } from '../transcript/last-lines.ts'
import { type LiveFiles, liveFiles } from './live-files.ts'
import { openPins } from './pins.ts'
import { noteRemoval } from './removals.ts'
import type { ServerLink } from './server-link.ts'
import { watchedForMs, watchTouches } from './user-activity.ts'
import { machineView, sessionView } from './views.ts'

/** The connection of this tab to the server, with everything that uses it. Loaded after the first paint. */
export interface Live extends ServerLink {
  readonly files: LiveFiles
  /** The queue of answers, starts and continuations. */
  readonly queue: DeviceQueue
  /** Unsent messages of the outbox. */
  readonly unsent: ReadonlySignal<readonly Draft[]>
  /** Messages of the outbox that were stored: for `feed.take` of the open session. */
  onStored(listener: StoredListener): () => void
  /** Messages that the server permanently rejected, so that "Try again" can be offered. */
  onSetAside(listener: (draft: Draft, refusal: Refused) => void): () => void
  close(): Promise<void>
}

export type StoredListener = (messages: readonly MessageRecord[], session: string) => void

/**
 * `onEnded` is called once if the server no longer accepts this device's sign-in; `onStartedOver` if it was restored to an older state:
 * open screens have to read again.
 */
export async function openLive(
  account: Pick<KeeperOptions, 'server' | 'kept' | 'latest' | 'onRenewed'> & {
    secret: Uint8Array
    onEnded(): void
    onStartedOver(): void
    me(): string | undefined
  }
): Promise<Live> {
  await cryptoReady()
  const vault = accountVault(account.secret)
  const ended = once(account.onEnded)
  const stored = new Set<StoredListener>()
  const setAside = new Set<(draft: Draft, refusal: Refused) => void>()

  const token = keepToken({ ...account, fetch: (url, init) => fetch(url, init) })
  let isStateTold = false
  const socket = openSocket({
    server: account.server,
    token,
    scope: { as: 'app' },
    appState() {
      isStateTold = true
      return appState()
    },
    WebSocket
  })
  const rest = createRest({
    server: account.server,
    token,
    fetch: (url, init) => fetch(url, init),
    connectionId: () => socket.connectionId
  })
  const pins = await openPins()
  // This tab is its own sender in each session: no other can use its numbers, and nothing has to be stored.
  const numbers = new Map<string, Numbers>()
  const numbersOf = (session: string): Numbers => {
    const known = numbers.get(session) ?? createNumbers(session)
    numbers.set(session, known)
    return known
  }
  const cipherOf = (session: string) => {
    // Not from the feed: stored data opens before the server answers, and without it.
    const known = home.peek().sessions.get(session)
    const cipher = known && vault.openKey(known.dataEncryptionKey)
    return cipher && { ...cipher, pin: pins.of(session), numbers: numbersOf(session) }
  }
  const unsent = signal<readonly Draft[]>([])
  const outbox = await openOutbox({
    journal: (await deviceDb()).journal(),
    send: sendOver(rest),
    socket,
    onStored: (messages, session) => {
      for (const listener of stored) listener(messages, session)
    },
    onSetAside: (draft, refusal) => {
      const cipher = cipherOf(draft.session)
      if (cipher) giveUpDraft(cipher, draft)
      for (const listener of setAside) listener(draft, refusal)
    },
    onChange: pending => {
      unsent.value = pending
    },
    onState: state => {
      // While retrying it has no more space than before.
      if (state.type !== 'sending') noteServerSpace(state.type === 'waiting' && state.isFull)
      if (state.type === 'refused' && state.refusal.status === 401) ended()
    }
  })
  const feed = openFeedInto({ rest, socket, vault, ended, startedOver: account.onStartedOver })
  const files = liveFiles({
    rest,
    token,
    blobKeyOf: session => {
      const known = home.peek().sessions.get(session)
      return known && vault.openBlobKey(known.dataEncryptionKey)
    }
  })
  const cipherOfMachine = (machine: string) => {
    const row = [...feed.machines.values()].find(({ id }) => id === machine)
    const cipher = row && vault.openKey(row.dataEncryptionKey)
    return cipher && { ...cipher, pin: pins.of(machine) }
  }
  const lines = followLines({ rest, socket, feed, cipherOf, onStored: listener => added(stored, listener) })
  const sessions = computed(() => home.value.sessions)
  const link = { socket, feed, cipherOf, cipherOfMachine, outbox }
  const queue = openDeviceQueue({
    isLinked: computed(() => !isStale.value),
    replies: { link, sessions, me: account.me },
    starts: { link, machines: computed(() => home.value.machines), begin: startSession, say: sendFirstMessage },
    continuations: {
      canSay: session => sessions.value.has(session) && cipherOf(session) !== undefined,
      say: (session, text) => sendFirstMessage(link, session, text)
    }
  })
  // Not needed before the first paint.
  const marks = import('../shared-marks.ts').then(
    ({ shareReadMarks }) => shareReadMarks({ rest, socket, vault, feed }),
    // Without it each device has only its own read marks.
    () => undefined
  )
  const tellState = () => {
    isStateTold = socket.send('app-state', appState())
  }
  const unlisten = effect(tellState)
  // What changed after the handshake, before the server accepted it, could not be sent.
  socket.onState(({ type }) => {
    if (type === 'live' && !isStateTold) tellState()
  })
  // Before the visibility is reported: coming back to the app counts as a touch.
  const untouch = watchTouches(tellState)
  const unwatch = watchDevice({
    wake() {
      socket.reconnectNow()
      outbox.wake()
    },
    lost: () => socket.networkLost(),
    shown(isShown) {
      tellState()
      // The callback may close it.
      if (!isShown && !isStale.peek()) noteHeard(socket)
    }
  })

  return {
    vault,
    rest,
    socket,
    feed,
    outbox,
    files,
    queue,
    unsent,
    cipherOf,
    cipherOfMachine,
    onStored: listener => added(stored, listener),
    onSetAside: listener => added(setAside, listener),
    async close() {
      void marks.then(shared => shared?.close())
      unwatch()
      untouch()
      unlisten()
      await queue.close()
      lines.close()
      feed.close()
      socket.close()
      await outbox.close()
    }
  }
}

/** In low-data mode, text arrives once, when complete. The app counts as in use while it was touched recently. */
function appState(): AppState {
  const state = document.visibilityState === 'visible' ? 'active' : 'background'
  return { state, partials: !isOn('lowData'), watchedForMs: watchedForMs() }
}

function openFeedInto({
  rest,
  socket,
  vault,
  ended,
  startedOver
}: {
  rest: Rest
  socket: LiveSocket
  vault: AccountVault
  ended(): void
  startedOver(): void
}): AccountFeed {
  const noteSocket = () => {
    const { state } = socket
    noteLink({ socket: state.type, nextTryAt: state.type === 'down' ? state.nextTryAt : undefined })
    if (state.type === 'refused') ended()
  }
  socket.onState(noteSocket)
  noteSocket()

  let wasLive = false
  const feed = openAccountFeed({
    rest,
    socket,
    onChange(change) {
      switch (change.type) {
        case 'session':
          return updateHome({ type: 'session', session: sessionView(vault, change.session) })
        case 'machine':
          return updateHome({ type: 'machine', machine: machineView(vault, change.machine) })
        case 'session-removed':
          noteRemoval(change)
          return updateHome(change)
        case 'machine-removed':
          return updateHome(change)
        case 'listed':
          return updateHome({
            type: 'listed',
            sessions: new Set(feed.sessions.keys()),
            machines: new Set(feed.machines.keys()),
            at: Date.now(),
            isWhole: change.isWhole
          })
        case 'older':
          return updateHome(change)
        case 'started-over':
          updateHome(change)
          return startedOver()
        case 'settings':
          return
      }
    },
    onState(state) {
      noteLink({ feed: state.type })
      if (state.type === 'live') updateHome({ type: 'confirmed', at: Date.now() })
      else if (wasLive) noteHeard(socket)
      wasLive = state.type === 'live'
      if (state.type === 'ended') ended()
    }
  })
  noteLink({ feed: feed.state.type })
  return feed
}

// The account state is as current as the server's last message: after a sleep that is long ago.
function noteHeard({ heardAt }: LiveSocket): void {
  if (heardAt !== undefined) updateHome({ type: 'confirmed', at: heardAt })
}

function added<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function once(run: () => void): () => void {
  let hasRun = false
  return () => {
    if (hasRun) return
    hasRun = true
    run()
  }
}
