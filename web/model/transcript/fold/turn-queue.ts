import type { Item, Mine } from '../items.ts'

/** An edit of a message, with its own id. */
type Version = Pick<Mine, 'text' | 'files' | 'isSteer'> & { readonly localId: string; readonly seq: number; readonly at: number }

/**
 * A message sent during a turn waits for its own, and is shown where that begins: above the reply that was being written, it
 * would look like part of the prompt of that reply.
 */
export interface Queue {
  /** Their local ids. */
  readonly waiting: readonly string[]
  /** The message that started the latest turn, and its place. */
  readonly started: { readonly localId: string | undefined; readonly seq: number; readonly at: number } | undefined
  /** The next turn starts with another message: the last one sent while idle. */
  readonly isTaken: boolean
  /** The items are no longer in the order of their places. */
  readonly hasMoved: boolean
}

export const emptyQueue: Queue = { waiting: [], started: undefined, isTaken: false, hasMoved: false }

/** Adds a message, the last of the items. */
export function queueUp(queue: Queue, items: Item[], item: Mine, isInTurn: boolean): Queue {
  const { localId } = item
  if (isInTurn) return !waits(item) || localId === null ? queue : { ...queue, waiting: [...queue.waiting, localId] }
  // Nothing waits while idle: agents that read all messages together have read the rest in their last turn.
  const { started } = queue
  const rest = started === undefined ? [] : queue.waiting
  for (const each of rest) if (started) placeAt(items, each, started)
  return { ...queue, waiting: [], isTaken: true, hasMoved: queue.hasMoved || rest.length > 0 }
}

/** A turn starts here, with the first waiting message, unless another was sent for it. */
export function startWithNext(queue: Queue, items: Item[], place: { seq: number; at: number }): Queue {
  const next = queue.isTaken ? undefined : items.find(item => isWaiting(queue, item))
  const localId = next?.type === 'mine' ? (next.localId ?? undefined) : undefined
  const started = { localId, seq: place.seq, at: place.at }
  if (localId === undefined) return { ...queue, started, isTaken: false }
  placeAt(items, localId, place)
  return { waiting: queue.waiting.filter(each => each !== localId), started, isTaken: false, hasMoved: true }
}

/** The latest turn started with this one instead. */
export function startWith(queue: Queue, items: Item[], localId: string): Queue {
  const { started, waiting } = queue
  if (started === undefined || !waiting.includes(localId)) return queue
  const others = waiting.filter(each => each !== localId)
  placeAt(items, localId, started)
  const back = started.localId === undefined ? [] : [started.localId]
  for (const each of back) standBack(items, each)
  return { ...queue, waiting: [...back, ...others], started: { ...started, localId }, hasMoved: true }
}

/** The items in the order of their places. */
export function inOrder(items: Item[], { hasMoved }: Queue): readonly Item[] {
  return hasMoved ? items.toSorted((one, other) => one.seq - other.seq) : items
}

function isWaiting({ waiting }: Queue, item: Item): boolean {
  return item.type === 'mine' && !item.isWithdrawn && item.localId !== null && waiting.includes(item.localId)
}

function placeAt(items: Item[], localId: string, { seq, at }: { seq: number; at: number }): void {
  const index = items.findLastIndex(item => isMineOf(item, localId))
  const item = items[index]
  if (item?.type === 'mine' && item.seq < seq) items[index] = { ...item, own: ownOf(item), seq, at }
}

function standBack(items: Item[], localId: string): void {
  const index = items.findLastIndex(item => isMineOf(item, localId))
  const item = items[index]
  if (item?.type === 'mine') items[index] = { ...item, ...ownOf(item), own: undefined }
}

/** True, and the item is changed in place, if the edited message exists. A withdrawn one no longer has a place. */
export function replaceWords(items: Item[], replaces: string, version: Version): boolean {
  const at = items.findLastIndex(item => isMineOf(item, replaces) && !item.isWithdrawn)
  const item = items[at]
  if (item?.type !== 'mine') return false
  const { text, files, isSteer } = item
  const first = { localId: replaces, seq: item.seq, at: item.at, text, files, isSteer }
  items[at] = saying(item, [...(item.versions ?? [first]), version])
  return true
}

/** The edit came too late: it is shown where it was sent. */
export function standApart(items: Item[], localId: string, place: { seq: number; at: number }): void {
  const at = items.findLastIndex(
    item => item.type === 'mine' && item.versions?.some((each, index) => index > 0 && each.localId === localId)
  )
  const item = items[at]
  if (item?.type !== 'mine' || item.versions === undefined) return
  const version = item.versions.find(each => each.localId === localId)
  const others = item.versions.filter(each => each !== version)
  items[at] = saying(item, others)
  if (version === undefined) return
  const { seq, ...said } = version
  const own = { ...item, ...said, ...place, own: version, key: `mine.${localId}`, versions: undefined, isWithdrawn: false, isRead: false }
  items.push(own)
}

/** The messages swap places, and the places stay: items between them do not move. */
export function moveMine(items: Item[], localId: string, before: string): void {
  const from = items.findIndex(item => isMineOf(item, localId))
  const to = items.findIndex(item => isMineOf(item, before))
  if (to < 0 || from <= to) return
  const places = items.flatMap((item, index) => (index >= to && index <= from && waits(item) ? [{ item, index }] : []))
  const moved = places.pop()
  if (moved?.index !== from) return
  const order = [moved.item, ...places.map(({ item }) => item)]
  for (const [which, { index, item: stood }] of [...places, moved].entries()) {
    const item = order[which]
    if (item === undefined || item === stood) continue
    items[index] = { ...item, own: ownOf(item), seq: stood.seq, at: stood.at }
  }
}

/** The agent has it: before others that wait, or before it was withdrawn. */
export function noteRead(items: Item[], localId: string): void {
  const at = items.findLastIndex(item => isMineOf(item, localId))
  const item = items[at]
  if (item?.type === 'mine') items[at] = { ...item, isRead: true, isWithdrawn: false }
}

export function isMineOf(item: Item, localId: string): item is Mine {
  return item.type === 'mine' && item.localId === localId
}

/** Where and when it was stored, regardless of its place. */
export function ownOf({ own, seq, at }: Pick<Mine, 'own' | 'seq' | 'at'>): { seq: number; at: number } {
  return own ?? { seq, at }
}

function saying(item: Mine, versions: readonly Version[]): Mine {
  const last = versions.at(-1)
  return last === undefined ? item : { ...item, versions, text: last.text, files: last.files, isSteer: last.isSteer }
}

function waits(item: Item): item is Mine {
  return item.type === 'mine' && item.from === 'app' && !item.isWithdrawn && !item.isSteer
}
