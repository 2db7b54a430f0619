import { deviceDb } from '../../core/device-db.ts'
import { onTabs, tellTabs } from '../../core/tabs.ts'

/** The draft of a session, stored on this device. */
export interface Draft {
  readDraft(): Promise<string>
  /** The number of files after whose upload it is sent automatically; undefined if it waits for a person. Returned once. */
  takeLeaving(): Promise<number | undefined>
  keepDraft(text: string): void
  /** Follows the draft of another tab, unless this one is being edited. Returns a function that unsubscribes. */
  onDraft(listener: (text: string) => void): () => void
}

/** The storage key for an automatic send of a session's draft, with its number of files. */
export const autoSendName = (session: string) => `draft-leaves.${session}`

const keepAfterMs = 400

export function openDraft(id: string): Draft & { close(): void } {
  const name = `draft.${id}`
  let timer: ReturnType<typeof setTimeout> | undefined
  let unkept: string | undefined
  const keepNow = (): void => {
    clearTimeout(timer)
    timer = undefined
    const text = unkept
    unkept = undefined
    if (text === undefined) return
    void deviceDb()
      .then(db => (text === '' ? db.remove(name) : db.write(name, text)))
      .then(() => tellTabs({ type: 'draft', session: id, text }))
      .catch(() => {})
  }
  return {
    async readDraft() {
      if (unkept !== undefined) return unkept
      const kept = await deviceDb()
        .then(db => db.read(name))
        .catch(() => '')
      return typeof kept === 'string' ? kept : ''
    },
    async takeLeaving() {
      try {
        const db = await deviceDb()
        const files = await db.read(autoSendName(id))
        if (typeof files !== 'number') return undefined
        await db.remove(autoSendName(id))
        return files
      } catch {
        return undefined
      }
    },
    keepDraft(text) {
      unkept = text
      if (text === '') keepNow()
      else timer ??= setTimeout(keepNow, keepAfterMs)
    },
    onDraft: listener =>
      onTabs(message => {
        if (message.type === 'draft' && message.session === id && unkept === undefined) listener(message.text)
      }),
    close: keepNow
  }
}
