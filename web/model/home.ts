import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { coalesce } from '../../lib/async/coalesce.ts'
import { pause } from '../../lib/async/pause.ts'
import { deviceDb } from '../core/device-db.ts'
import { tellTabs } from '../core/tabs.ts'
import { emptyHome, type Home, type HomeEvent, reduce, type SessionView } from './store.ts'

const homeNow = signal(emptyHome)

/** The current state of this device; the screens draw it. */
export const home: ReadonlySignal<Home> = homeNow

/** One session, for a screen; undefined if it is not (or no longer) known. */
export function sessionOf(id: string): ReadonlySignal<SessionView | undefined> {
  return computed(() => home.value.sessions.get(id))
}

export function updateHome(event: HomeEvent): void {
  const before = homeNow.peek()
  const after = reduce(before, event)
  if (after === before) return
  homeNow.value = after
  if (event.type === 'cleared') unsent.clear()
  // Without space the server sends it again; the lack of space is shown.
  if (event.type !== 'restored' && event.type !== 'cleared') keepSoon(undefined).catch(() => {})
}

/** The person has read a session up to this message. */
export function markSeen(id: string, seq: number): void {
  updateHome({ type: 'seen', id, seq })
  tellTabs({ type: 'seen', id, seq })
  if (tellDevices) tellDevices(id, seq)
  else unsent.set(id, seq)
}

let tellDevices: typeof markSeen | undefined
const unsent = new Map<string, number>()

/** Receives read marks made here, while connected; at first also those made offline. */
export function onMarked(listener: typeof markSeen | undefined): void {
  tellDevices = listener
  if (!listener) return
  for (const [id, seq] of unsent) listener(id, seq)
  unsent.clear()
}

/** Pinned to the top of the list, only on this device. */
export function pin(ids: readonly string[], isPinned: boolean): void {
  updateHome({ type: 'pinned', ids, isPinned })
  tellTabs({ type: 'pinned', ids, isPinned })
}

/** Fills Home from the device database, so that it opens without the server. */
export async function restoreHome(): Promise<void> {
  const db = await deviceDb()
  const kept = await db.read('home')
  if (isKept(kept)) updateHome({ type: 'restored', home: unpack(kept) })
}

interface Kept {
  form: 2
  sessions: [string, SessionView][]
  machines: [string, Home['machines'] extends ReadonlyMap<string, infer View> ? View : never][]
  seenSeq: [string, number][]
  pinned?: string[]
  asOf: number | null
}

const keepSoon = coalesce<undefined>(async () => {
  await pause(500)
  const { sessions, machines, seenSeq, pinned, asOf } = home.peek()
  const kept: Kept = {
    form: 2,
    sessions: [...sessions],
    machines: [...machines],
    seenSeq: [...seenSeq],
    pinned: [...pinned],
    asOf: asOf ?? null
  }
  const db = await deviceDb()
  // Signed out in the meantime: nothing is left behind.
  if (home.peek() !== emptyHome) await db.write('home', kept)
})

// Only this file writes the entry, and it is sealed, so only its version number needs checking.
function isKept(kept: unknown): kept is Kept {
  return typeof kept === 'object' && kept !== null && 'form' in kept && kept.form === 2
}

function unpack({ sessions, machines, seenSeq, pinned, asOf }: Kept): Home {
  return {
    sessions: new Map(sessions),
    machines: new Map(machines),
    seenSeq: new Map(seenSeq),
    pinned: new Set(pinned),
    asOf: asOf ?? undefined
  }
}
