import { downloadZip } from 'client-zip'
import { openMessage } from '../../../../lib/client/index.ts'
import { sessionId } from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import type { Live } from '../../account/live.ts'
import { home } from '../../home.ts'
import { titleOf } from '../../sessions.ts'
import type { SessionView } from '../../store.ts'
import type { KnownMessage } from '../message.ts'
import { addMessages, emptyTranscript } from '../transcript.ts'
import { markdownOf } from './export-markdown.ts'

const pageSize = 500

/** Every session of the account as text and JSON, decrypted on this device, in one file. `sealed`: sessions that could not be decrypted. */
export async function exportAll(
  link: Live,
  { signal, onProgress }: { signal: AbortSignal; onProgress(done: number, all: number): void }
): Promise<{ file: Blob; sealed: number }> {
  const sessions = [...home.peek().sessions.values()].sort((a, b) => a.createdAt - b.createdAt)
  const sealed: string[] = []
  const file = await downloadZip(files(link, { sessions, sealed, signal, onProgress })).blob()
  return { file, sealed: sealed.length }
}

/** One session, decrypted on this device: as text to read, or as JSON. */
export async function exportSession(link: Live, session: SessionView, form: 'md' | 'json'): Promise<{ file: Blob; name: string }> {
  const cipher = link.cipherOf(session.id)
  if (!cipher) throw new Error('The keys on this device do not open the session.')
  const { transcript, bodies } = opened(await readMessages(link, session.id, new AbortController().signal), cipher)
  const text = form === 'md' ? markdownOf(session, transcript.items) : jsonOf(session, bodies)
  const type = form === 'md' ? 'text/markdown' : 'application/json'
  return { file: new Blob([text], { type }), name: `${fileName(session)}.${form}` }
}

export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

interface Work {
  sessions: readonly SessionView[]
  sealed: string[]
  signal: AbortSignal
  onProgress(done: number, all: number): void
}

// One session after the other, so that only one is held decrypted.
async function* files(link: Live, { sessions, sealed, signal, onProgress }: Work): AsyncGenerator<{ name: string; input: string }> {
  for (const [index, session] of sessions.entries()) {
    onProgress(index, sessions.length)
    const cipher = link.cipherOf(session.id)
    if (!cipher || !session.metadata) {
      sealed.push(session.id)
      continue
    }
    const messages = await readMessages(link, session.id, signal)
    const name = `sessions/${fileName(session)}`
    const { transcript, bodies } = opened(messages, cipher)
    yield { name: `${name}.md`, input: markdownOf(session, transcript.items) }
    yield { name: `${name}.json`, input: jsonOf(session, bodies) }
  }
  onProgress(sessions.length, sessions.length)
  const machines = [...home.peek().machines.values()].map(({ id, metadata, createdAt }) => ({ id, metadata, createdAt }))
  yield { name: 'account.json', input: JSON.stringify({ exportedAt: new Date().toISOString(), machines, notOpened: sealed }, null, 1) }
}

type Records = Awaited<ReturnType<typeof readMessages>>

async function readMessages({ rest }: Pick<Live, 'rest'>, id: string, signal: AbortSignal) {
  const all = []
  for (let after = 0; ; ) {
    const request = { params: { id: v.parse(sessionId, id) }, query: { after_seq: after, limit: pageSize } }
    const { messages, hasMore } = await rest.call('readMessages', request, { signal })
    all.push(...messages)
    after = messages.at(-1)?.seq ?? after
    if (!hasMore || messages.length === 0) return all
  }
}

function opened(records: Records, cipher: Parameters<typeof openMessage>[0]) {
  const known = records.map((record): KnownMessage & { createdAt: number } => {
    const message = openMessage(cipher, record)
    const at = record.createdAt
    return {
      seq: record.seq,
      localId: record.localId,
      at,
      createdAt: at,
      body: message.ok ? message.body : undefined,
      ...(!message.ok && { closed: 'unreadable' as const })
    }
  })
  const bodies = known.map(({ seq, createdAt, body }) => ({ seq, at: new Date(createdAt).toISOString(), body: body ?? null }))
  return { transcript: addMessages(emptyTranscript, known), bodies }
}

function jsonOf({ id, metadata }: SessionView, messages: readonly unknown[]): string {
  return JSON.stringify({ id, metadata, messages }, null, 1)
}

// A name valid on every file system; the id distinguishes sessions with the same title.
function fileName(session: SessionView): string {
  const title = (titleOf(session) ?? '').replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '')
  return [new Date(session.createdAt).toISOString().slice(0, 10), [...title].slice(0, 60).join(''), session.id.slice(0, 8)]
    .filter(part => part !== '')
    .join('_')
}
