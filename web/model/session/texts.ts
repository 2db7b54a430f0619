import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { envelopeOf, giveUpDraft, newUserText, sealDraft } from '../../../lib/client/index.ts'
import type { MessageBody, MessageMeta } from '../../../lib/protocol/sealed/messages.ts'
import { deviceDb } from '../../core/device-db.ts'
import { feel } from '../../ui/behavior/haptics.ts'
import type { Live } from '../account/live.ts'
import { onMessageChange, openedOf, toldByPerson, withdrawMessage } from '../outbox/messages.ts'
import type { SessionView } from '../store.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { type Attached, attachedOf, fileEvent } from './attachment.ts'
import { type Draft, openDraft } from './draft.ts'
import { isOtherwiseSealed } from './key-mismatch.ts'

/** A text of this device that the server does not have yet. */
export interface WaitingText {
  readonly localId: string
  readonly text: string
  readonly at: number
  /** `device`: stored here, sent automatically. `failed`: the server permanently rejected it. */
  readonly state: 'device' | 'failed'
  /** Files sent before it. */
  readonly files?: readonly Attached[] | undefined
  readonly isSteer?: boolean | undefined
  /** The message that it edits. */
  readonly replaces?: string | undefined
}

/** Two queued messages: the first is moved right before the second. */
export interface Move {
  readonly localId: string
  readonly before: string
}

/** Options for sending a text. */
interface SendingHow {
  readonly files?: readonly Attached[] | undefined
  /** It ends the running turn instead of waiting for it. */
  readonly isSteer?: boolean | undefined
  /** It replaces this message, if the agent has not read that yet. */
  readonly replaces?: string | undefined
}

export interface SessionTexts extends Draft {
  /** In the order in which they were sent. */
  readonly waiting: ReadonlySignal<readonly WaitingText[]>
  /** Messages being withdrawn, until the session confirms it. */
  readonly takenBack: ReadonlySignal<ReadonlySet<string>>
  /** Resolves when the text is stored on this device; it will then reach the server. Rejects if it cannot be stored. */
  send(text: string, how?: SendingHow): Promise<void>
  /** Withdraws a message: here if it was not sent, otherwise by a message to the machine, which obeys if the agent has not read it. */
  withdraw(localId: string): Promise<void>
  /** Moves one queued message right before another. */
  move(localId: string, before: string): Promise<void>
  /** Moves that the session does not have yet. */
  readonly moves: ReadonlySignal<readonly Move[]>
  /** Sends a failed one again, as a new message. */
  retry(localId: string): Promise<void>
  discard(localId: string): Promise<void>
  close(): void
}

interface TextSources {
  readonly id: string
  readonly live: Live
  readonly session: ReadonlySignal<SessionView | undefined>
  transcript: ReadonlySignal<Transcript>
  /** Other fields of each text, such as a chosen model. */
  wishes: () => Partial<MessageMeta>
  /** The text that was sent with them. */
  onSaid: (localId: string) => void
}

/** How many of the last messages may include one that was just stored. */
const newest = 500

export function openTexts({ id, live, session, transcript, wishes, onSaid }: TextSources): SessionTexts {
  const mine = signal<readonly WaitingText[]>([])
  const takenBack = signal<ReadonlySet<string>>(new Set())
  const moves = signal<readonly (Move & { saidIn: string })[]>([])
  const failedName = `failed.${id}`
  const draft = openDraft(id)

  const change = (localId: string, to: WaitingText | undefined): void => {
    const others = mine.peek().filter(text => text.localId !== localId)
    mine.value = to === undefined ? others : [...others, to]
  }
  const keepFailed = async (): Promise<void> => {
    const failed = mine.peek().filter(text => text.state === 'failed')
    await deviceDb().then(db => (failed.length === 0 ? db.remove(failedName) : db.write(failedName, failed)))
  }
  const sealed = (body: MessageBody) => {
    const cipher = live.cipherOf(id)
    if (cipher === undefined) throw new Error('no key')
    return sealDraft(cipher, id, body)
  }
  const put = async (text: string, { files = [], isSteer = false, replaces }: SendingHow = {}): Promise<void> => {
    if (isOtherwiseSealed(transcript.peek().messages)) throw new Error('nobody there could read it')
    const announced = files.map(file => sealed(toldByPerson(fileEvent(file))))
    const draft = sealed(
      newUserText(text, { sentFrom: 'web', ...wishes(), ...(isSteer && { steer: true }), ...(replaces && { replaces }) })
    )
    const { localId, createdAt } = draft
    onSaid(localId)
    change(localId, { localId, text, at: createdAt, state: 'device', files, isSteer, replaces })
    try {
      // Together, so that they are stored together and sent in this order.
      await Promise.all([...announced, draft].map(each => live.outbox.put(each)))
    } catch (error) {
      for (const each of [...announced, draft]) giveUp(each)
      change(localId, undefined)
      throw error
    }
  }
  /** It will never be sent: the next message tells receivers not to expect its number. */
  const giveUp = (draft: { content: string }): void => {
    const cipher = live.cipherOf(id)
    if (cipher) giveUpDraft(cipher, draft)
  }
  const unset = live.onSetAside(draft => {
    if (draft.session !== id) return
    const opened = openedOf(live, draft)
    // Its text will be rejected as well, and announces the file again.
    if (opened !== undefined && opened.role !== 'user') return
    const known = mine.peek().find(text => text.localId === draft.localId)
    const text = known?.text ?? opened?.content.text ?? ''
    change(draft.localId, { ...known, localId: draft.localId, text, at: draft.createdAt, state: 'failed' })
    feel('failed')
    void keepFailed()
  })
  const unleft = onMessageChange(({ session, localId, text }) => {
    if (session !== id) return
    const others = mine.peek().filter(({ replaces }) => replaces !== localId)
    mine.value = others.flatMap(each => (each.localId !== localId ? each : text === undefined ? [] : { ...each, text }))
  })
  void deviceDb()
    .then(db => db.read(failedName))
    .then(kept => {
      const failed = Array.isArray(kept) ? kept.filter(isFailed) : []
      mine.value = [...failed.filter(text => !mine.peek().some(each => each.localId === text.localId)), ...mine.peek()]
    })
    .catch(() => {})

  // Texts unsent when the app was closed are shown again, once there is a key to decrypt them.
  const isKnown = computed(() => session.value !== undefined)
  const unleave = effect(() => {
    if (!isKnown.value) return
    const shown = new Set(mine.peek().map(text => text.localId))
    mine.value = [...mine.peek(), ...unsentTexts(id, live).filter(text => !shown.has(text.localId))]
  })

  // On screen it is the same bubble, now stored.
  const unstore = effect(() => {
    const stored = new Set(transcript.value.messages.slice(-newest).map(message => message.localId))
    const left = mine.value.filter(text => !stored.has(text.localId))
    if (left.length < mine.peek().length) mine.value = left
    const unheard = moves.value.filter(({ saidIn }) => !stored.has(saidIn))
    if (unheard.length < moves.peek().length) moves.value = unheard
  })

  return {
    ...draft,
    waiting: mine,
    takenBack,
    moves,
    send: put,
    async move(localId, before) {
      const draft = sealed(toldByPerson({ t: 'move', localId, before }))
      const move = { localId, before, saidIn: draft.localId }
      moves.value = [...moves.peek(), move]
      try {
        await live.outbox.put(draft)
      } catch (error) {
        moves.value = moves.peek().filter(each => each !== move)
        throw error
      }
    },
    async withdraw(localId) {
      takenBack.value = new Set([...takenBack.peek(), localId])
      try {
        await withdrawMessage(live, { session: id, localId })
      } catch (error) {
        // It is still sent, and must not look withdrawn.
        takenBack.value = new Set([...takenBack.peek()].filter(each => each !== localId))
        throw error
      }
    },
    async retry(localId) {
      const failed = mine.peek().find(text => text.localId === localId)
      if (failed === undefined) return
      await put(failed.text, failed)
      change(localId, undefined)
      await keepFailed()
    },
    async discard(localId) {
      change(localId, undefined)
      await keepFailed()
    },
    close() {
      draft.close()
      unset()
      unleft()
      unleave()
      unstore()
    }
  }
}

function unsentTexts(id: string, live: Live): WaitingText[] {
  const texts: WaitingText[] = []
  let files: Attached[] = []
  for (const draft of live.outbox.pending) {
    const body = draft.session === id ? openedOf(live, draft) : undefined
    const event = body && envelopeOf(body)?.ev
    if (event?.t === 'file') files.push(attachedOf(event))
    if (body?.role !== 'user') continue
    const { localId, createdAt: at } = draft
    const { steer: isSteer, replaces } = body.meta ?? {}
    texts.push({ localId, text: body.content.text, at, state: 'device', files, isSteer, replaces })
    files = []
  }
  return texts
}

function isFailed(value: unknown): value is WaitingText {
  return typeof value === 'object' && value !== null && 'localId' in value && 'text' in value && typeof value.text === 'string'
}
