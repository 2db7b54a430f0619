import type { Item, Mine } from './transcript.ts'

/** What a later message says instead, under its own name. */
type Version = Pick<Mine, 'text' | 'files' | 'isSteer'> & { readonly localId: string; readonly seq: number; readonly at: number }

/** True, and the item changed in place, when there is a message whose words these replace. One that was withdrawn has no place any more. */
export function replaceWords(items: Item[], replaces: string, version: Version): boolean {
  const at = items.findLastIndex(item => isMineOf(item, replaces) && !item.isWithdrawn)
  const item = items[at]
  if (item?.type !== 'mine') return false
  const { text, files, isSteer } = item
  const first = { localId: replaces, seq: item.seq, at: item.at, text, files, isSteer }
  items[at] = saying(item, [...(item.versions ?? [first]), version])
  return true
}

/** The words came too late to replace any: they stand where that was said. */
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

/** The messages change places, and the places stay where they are: what was said between them does not move. */
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

/** The agent has it: earlier than others that wait, or before it was withdrawn. */
export function noteRead(items: Item[], localId: string): void {
  const at = items.findLastIndex(item => isMineOf(item, localId))
  const item = items[at]
  if (item?.type === 'mine') items[at] = { ...item, isRead: true, isWithdrawn: false }
}

export function isMineOf(item: Item, localId: string): item is Mine {
  return item.type === 'mine' && item.localId === localId
}

/** Where and when it was stored, wherever it stands. */
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
