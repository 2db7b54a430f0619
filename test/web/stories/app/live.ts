import { signal } from '@preact/signals'
import {
  type AccountSession,
  accountVault,
  type Cipher,
  createRest,
  cryptoReady,
  type Draft,
  type LiveSocket,
  newUserText,
  sealDraft,
  Unreachable
} from '../../../../lib/client/index.ts'
import { callFailures } from '../../../../lib/protocol/wire/failures.ts'
import { routes } from '../../../../lib/protocol/wire/routes.ts'
import * as v from '../../../../lib/schema.ts'
import { noteLink, noteProgress } from '../../../../web/core/connection.ts'
import type { openLive as realOpenLive } from '../../../../web/model/account/live.ts'
import { home, updateHome } from '../../../../web/model/home.ts'
import type { Entry } from '../../../../web/model/outbox/durable-queue.ts'
import { noteAsked } from '../asked.ts'
import { shown } from './app-story.ts'

// Stands in for the link of the app: all requests are answered by the story.
export const openLive: typeof realOpenLive = async account => {
  await cryptoReady()
  const { link, progress, unsent, isEnded } = shown()
  noteLink({ isOnline: true, socket: 'live', feed: 'live', ...link })
  noteProgress(progress)
  if (isEnded === true) setTimeout(account.onEnded)
  const nothing = () => {}
  const vault = accountVault(account.secret)
  const waiting = signal<readonly Draft[]>((unsent?.texts ?? []).map(({ session, text }) => sealDraft(open, session, newUserText(text))))
  const queued = signal<readonly Entry[]>(unsent?.starts ?? [])
  // Only the members that stories use; the check tolerates members that are added later.
  const live = {
    vault,
    rest,
    socket,
    feed,
    outbox: {
      state: { type: 'idle' },
      get pending() {
        return waiting.peek()
      },
      async put(draft: Draft) {
        noteAsked('outbox', { session: draft.session, content: JSON.parse(draft.content) })
        waiting.value = [...waiting.peek(), draft]
      },
      withdraw: async () => 'too-late',
      async idle() {},
      wake() {},
      restart() {},
      async close() {}
    },
    files: {
      seal: (_session: string, bytes: Uint8Array) => new Uint8Array(bytes),
      upload: () => new Promise(nothing),
      download: () => new Promise(nothing)
    },
    queue: {
      all: queued,
      of: (name: string) => queued.value.filter(({ kind }) => kind === name),
      async put(entry: Entry) {
        noteAsked('queue', entry)
      },
      async send(entry: Entry) {
        noteAsked('queue', entry)
        queued.value = [...queued.value, { ...entry, state: shown().answered ?? { type: 'delivered' } }]
      },
      async withdraw(key: string) {
        noteAsked('withdraw', key)
      },
      dismiss(key: string) {
        noteAsked('dismiss', key)
      },
      async change(_: string, key: string, how: (entry: Entry) => Entry) {
        queued.value = queued.value.map(entry => (entry.key === key ? how(entry) : entry))
      },
      isRead: Promise.resolve(),
      async close() {}
    },
    unsent: waiting,
    cipherOf: (id: string) => (home.peek().sessions.has(id) ? open : undefined),
    cipherOfMachine: () => open,
    onStored: () => nothing,
    onSetAside: () => nothing,
    async close() {}
  }
  return Object.assign(Object.create(null), live)
}

const open: Cipher = { seal: value => JSON.stringify(value) ?? '', open: sealed => ({ ok: true, value: JSON.parse(sealed) }) }

/** The sessions of the story, as rows that `open` reads. */
const feed = {
  get sessions() {
    const rows = home
      .peek()
      .sessions.values()
      .map(({ last: _, metadata, ...row }) => ({ ...row, metadata: open.seal(metadata), metadataVersion: 1 }))
    return new Map(rows.map(row => [row.id, row]))
  },
  machines: new Map(),
  settings: undefined,
  state: { type: 'live' },
  refresh() {},
  take({ session }: { session?: AccountSession }) {
    const known = session && home.peek().sessions.get(session.id)
    if (known) updateHome({ type: 'session', session: { ...known, metadata: JSON.parse(session.metadata) } })
  },
  close() {}
}

// A request without an answer in the story stays pending forever.
const never = new Promise<never>(() => {})

const rest = createRest({
  server: location.origin,
  async fetch(url, { method, body }) {
    const path = new URL(url).pathname
    // The app asks for messages again and again.
    if (!path.endsWith('/messages')) noteAsked(`${method} ${path}`, body)
    const name = Object.keys(shown().server).find(each => isRoute(each) && isAt(routes[each].path, path) && routes[each].method === method)
    if (name === undefined || !isRoute(name)) return never
    const answer = Reflect.get(shown().server, name)
    const isRefused = typeof answer === 'number'
    return {
      status: isRefused ? answer : 200,
      headers: { get: () => null },
      text: async () => JSON.stringify(isRefused ? { error: 'Refused' } : answer)
    }
  }
})

function isAt(route: string, path: string): boolean {
  const parts = path.split('/')
  const places = route.split('/')
  return parts.length === places.length && places.every((place, index) => place.startsWith(':') || place === parts[index])
}

function isRoute(name: string): name is keyof typeof routes {
  return name in routes
}

/** The methods that were called. */
const heard = new Set<string>()
const called = v.object({ method: v.string(), params: v.optional(v.unknown()) })
const written = v.object({ metadata: v.string(), expectedVersion: v.number() })

const socket: LiveSocket = {
  state: { type: 'live', connectionId: 'c' },
  connectionId: 'c',
  droppedFrames: 0,
  heardAt: undefined,
  onState: () => () => {},
  onUpdate: () => () => {},
  onEphemeral: () => () => {},
  async request(event, payload) {
    if (event === 'update-metadata') {
      const { metadata, expectedVersion } = v.parse(written, payload)
      noteAsked(event, metadata)
      if (Reflect.get(shown().machine, event) === 'gone') return { result: 'error', status: 404 }
      return JSON.parse(JSON.stringify({ result: 'success', version: expectedVersion + 1, metadata }))
    }
    const { method, params } = v.parse(called, payload)
    noteAsked(method, params)
    const name = method.slice(method.indexOf(':') + 1)
    const { machine, later = machine } = shown()
    const answer = Reflect.get(heard.has(name) ? later : machine, name)
    heard.add(name)
    if (answer === undefined) return never
    if (answer === 'away') throw new Unreachable('not-connected')
    if (answer === 'gone') return { ok: false, error: callFailures['not-available'] }
    return JSON.parse(JSON.stringify({ ok: true, result: JSON.stringify(answer) }))
  },
  send: () => true,
  answer: () => ({ registered: Promise.resolve(), stop() {} }),
  reconnectNow() {},
  networkLost() {},
  close() {}
}
