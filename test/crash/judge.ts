import type { History, Shown } from './history.ts'

/** A session as it is on disk. */
export interface Stored {
  id: string
  /** What the session's row says its last number is. */
  lastSeq: number
  messages: Shown[]
}

/** What of the promises does not hold, in sentences; empty when all do. */
export function judge(history: History, stored: readonly Stored[]): string[] {
  const byId = new Map(stored.map(session => [session.id, session]))
  const promised = [...history.sessions].flatMap(([id, { bySeq, contentByLocalId }]) => {
    const session = byId.get(id)
    if (!session) return [`${id}: the session is gone`]
    return [...lostNumbers(session, bySeq), ...lostNames(session, contentByLocalId)]
  })
  return [...history.complaints, ...stored.flatMap(session => [...disorder(session), ...writersOutOfOrder(session)]), ...promised]
}

function lostNumbers({ id, messages }: Stored, bySeq: ReadonlyMap<number, Shown>): string[] {
  const stored = new Map(messages.map(message => [message.seq, message]))
  return [...bySeq.values()].flatMap(({ seq, localId, content }) => {
    const message = stored.get(seq)
    if (!message) return [`${id}: ${seq} (${localId}) was promised and is lost`]
    if (message.localId !== localId) return [`${id}: ${seq} was promised as ${localId} and is ${message.localId}`]
    return message.content === content ? [] : [`${id}: ${seq} (${localId}) has another content`]
  })
}

function lostNames({ id, messages }: Stored, contentByLocalId: ReadonlyMap<string, string>): string[] {
  const stored = new Map(messages.map(message => [message.localId, message.content]))
  return [...contentByLocalId].flatMap(([localId, content]) => {
    if (!stored.has(localId)) return [`${id}: ${localId} was promised and is lost`]
    return stored.get(localId) === content ? [] : [`${id}: ${localId} has another content`]
  })
}

// All or nothing: message, number and counter are one write.
function disorder({ id, lastSeq, messages }: Stored): string[] {
  const complaints: string[] = []
  messages.forEach(({ seq }, index) => {
    if (seq !== index + 1) complaints.push(`${id}: ${seq} stands where ${index + 1} belongs`)
  })
  const names = messages.flatMap(({ localId }) => (localId === null ? [] : [localId]))
  if (new Set(names).size !== names.length) complaints.push(`${id}: a message is there twice`)
  if (lastSeq !== messages.length) complaints.push(`${id}: its counter is ${lastSeq} and it has ${messages.length} messages`)
  return complaints
}

// A writer names its messages `<writer>.<number>` and sends each after the one before: what is stored of it has no hole.
function writersOutOfOrder({ id, messages }: Stored): string[] {
  const lastByWriter = new Map<string, number>()
  return messages.flatMap(({ localId }) => {
    const [writer = '', number = ''] = (localId ?? '').split('.')
    const last = lastByWriter.get(writer) ?? -1
    lastByWriter.set(writer, Number(number))
    return Number(number) === last + 1 ? [] : [`${id}: ${localId} came after ${writer}.${last}`]
  })
}
