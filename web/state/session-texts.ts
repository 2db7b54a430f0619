import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { openMessage, sealDraft, userText } from '../../lib/client/index.ts'
import { encryptedContent } from '../../lib/protocol/wire/records.ts'
import { deviceDb } from './device-db.ts'
import type { Live } from './live.ts'
import type { SessionSources } from './session.ts'
import type { Transcript } from './transcript.ts'

/** A text of this device that the server does not have yet. */
export interface WaitingText {
  readonly localId: string
  readonly text: string
  readonly at: number
  /** `device`: kept here, leaves by itself. `failed`: the server will never take it as it is. */
  readonly state: 'device' | 'failed'
}

export interface SessionTexts {
  /** In the order in which they were sent. */
  readonly waiting: ReadonlySignal<readonly WaitingText[]>
  /** Resolves when the text is kept on this device; from then on it reaches the server. Rejects when it cannot be kept. */
  send(text: string): Promise<void>
  /** Sends a failed one again, as a new message. */
  retry(localId: string): Promise<void>
  discard(localId: string): Promise<void>
  /** What is being written, kept on this device. */
  readDraft(): Promise<string>
  keepDraft(text: string): void
  close(): void
}

export interface TextSources extends Pick<SessionSources, 'id' | 'live' | 'session'> {
  transcript: ReadonlySignal<Transcript>
}

const keepDraftAfterMs = 400
/** How many messages at the end may hold one that was just stored. */
const newest = 500

export function openTexts({ id, live, session, transcript }: TextSources): SessionTexts {
  const mine = signal<readonly WaitingText[]>([])
  const failedName = `failed.${id}`
  const draftName = `draft.${id}`

  const change = (localId: string, to: WaitingText | undefined): void => {
    const others = mine.peek().filter(text => text.localId !== localId)
    mine.value = to === undefined ? others : [...others, to]
  }
  const keepFailed = async (): Promise<void> => {
    const failed = mine.peek().filter(text => text.state === 'failed')
    await deviceDb().then(db => (failed.length === 0 ? db.remove(failedName) : db.write(failedName, failed)))
  }
  const put = async (text: string): Promise<void> => {
    const cipher = live.cipherOf(id)
    if (cipher === undefined) throw new Error('no key')
    const draft = sealDraft(cipher, id, userText(text, { sentFrom: 'web' }))
    change(draft.localId, { localId: draft.localId, text, at: draft.createdAt, state: 'device' })
    try {
      await live.outbox.put(draft)
    } catch (error) {
      change(draft.localId, undefined)
      throw error
    }
  }

  const unset = live.onSetAside(draft => {
    if (draft.session !== id) return
    const text = textOf(id, live, draft)
    change(draft.localId, { localId: draft.localId, text, at: draft.createdAt, state: 'failed' })
    void keepFailed()
  })
  void deviceDb()
    .then(db => db.read(failedName))
    .then(kept => {
      const failed = Array.isArray(kept) ? kept.filter(isFailed) : []
      mine.value = [...failed.filter(text => !mine.peek().some(each => each.localId === text.localId)), ...mine.peek()]
    })
    .catch(() => {})

  // What was still on its way when the app was closed is shown again, once there is a key to read it with.
  const isKnown = computed(() => session.value !== undefined)
  const unleave = effect(() => {
    if (!isKnown.value) return
    const shown = new Set(mine.peek().map(text => text.localId))
    mine.value = [...mine.peek(), ...leaving(id, live).filter(text => !shown.has(text.localId))]
  })

  // On screen it is the same bubble, now stored.
  const unstore = effect(() => {
    const stored = new Set(transcript.value.messages.slice(-newest).map(message => message.localId))
    const left = mine.value.filter(text => !stored.has(text.localId))
    if (left.length < mine.peek().length) mine.value = left
  })

  let draftTimer: ReturnType<typeof setTimeout> | undefined
  let unkept: string | undefined
  const keepNow = (): void => {
    clearTimeout(draftTimer)
    draftTimer = undefined
    const text = unkept
    unkept = undefined
    if (text === undefined) return
    void deviceDb()
      .then(db => (text === '' ? db.remove(draftName) : db.write(draftName, text)))
      .catch(() => {})
  }

  return {
    waiting: mine,
    send: put,
    async retry(localId) {
      const failed = mine.peek().find(text => text.localId === localId)
      if (failed === undefined) return
      await put(failed.text)
      change(localId, undefined)
      await keepFailed()
    },
    async discard(localId) {
      change(localId, undefined)
      await keepFailed()
    },
    async readDraft() {
      const kept = await deviceDb()
        .then(db => db.read(draftName))
        .catch(() => '')
      return typeof kept === 'string' ? kept : ''
    },
    keepDraft(text) {
      unkept = text
      if (text === '') keepNow()
      else draftTimer ??= setTimeout(keepNow, keepDraftAfterMs)
    },
    close() {
      keepNow()
      unset()
      unleave()
      unstore()
    }
  }
}

function leaving(id: string, live: Live): WaitingText[] {
  return live.outbox.pending
    .filter(draft => draft.session === id)
    .map(draft => ({ localId: draft.localId, text: textOf(id, live, draft), at: draft.createdAt, state: 'device' }))
}

function textOf(id: string, live: Live, draft: { content: string }): string {
  const cipher = live.cipherOf(id)
  const opened = cipher && openMessage(cipher, { content: encryptedContent.parse({ t: 'encrypted', c: draft.content }) })
  return opened?.ok === true && opened.body.role === 'user' ? opened.body.content.text : ''
}

function isFailed(value: unknown): value is WaitingText {
  return typeof value === 'object' && value !== null && 'localId' in value && 'text' in value && typeof value.text === 'string'
}
