import type { NoticePreview } from '../../../lib/protocol/sealed/preview.ts'
import { testPath } from '../../core/worker-messages.ts'
import type { PushWords } from '../../words/push.ts'
import type { Payload } from './payload.ts'

export type ActionName = 'open' | 'deny' | 'allow' | 'reply' | 'snooze'

/** Stored with a notification, for when it is tapped. The browser stores it in clear, so everything secret in it stays sealed. */
export interface About {
  readonly path: string
  readonly notice?: string | undefined
  readonly kind?: string | undefined
  readonly session?: string | undefined
  /** Sealed, as received. */
  readonly preview?: string | undefined
  /** The notice that was answered here: if it is sent again, it is not shown again. */
  readonly answered?: string | undefined
}

export interface Shown {
  readonly title: string
  readonly options: NotificationOptions & { data: About; renotify?: boolean; actions?: readonly Action[] }
}

interface Action {
  readonly action: ActionName
  readonly title: string
  readonly type?: 'text'
  readonly placeholder?: string
}

export interface Ways {
  readonly words: PushWords
  /** The person permits allowing a plain request from its notification, where only its text is shown. */
  readonly mayAllow: boolean
  /** There is an account and it is not behind the app lock, so buttons can answer without the app. */
  readonly mayAnswer: boolean
  /** How many buttons this browser shows, and whether one can take text. */
  readonly maxActions: number
  readonly takesText: boolean
}

/** One notification per session; a new one replaces the old. Without a readable preview it shows a fixed text and opens the app. */
export function notificationOf(payload: Payload | undefined, preview: NoticePreview | undefined, ways: Ways): Shown {
  if (payload === undefined) {
    return { title: 'Afield', options: { body: ways.words.unreadable, tag: 'afield', ...pictures, data: { path: '/' } } }
  }
  const { tag, lang, silent = false, data } = payload
  const { notice, kind, session, preview: sealed } = data
  const { title, body } = sayingOf(payload, preview, ways.words)
  const path = session !== undefined ? `/s/${session}` : kind === 'test' ? testPath : '/'
  return {
    title,
    options: {
      ...{ body, tag: session ?? tag ?? notice, silent, renotify: !silent, ...pictures },
      ...(lang !== undefined && { lang }),
      data: { path, notice, kind, session, ...(preview?.asks && { preview: sealed }) },
      actions: actionsFor(kind, preview, ways).slice(0, ways.maxActions)
    }
  }
}

/** The outcome of an action, in place of its notification. It belongs to no notice any more, so only the person closes it. */
export function outcomeOf(title: string, tag: string, about: About, body: string): Shown {
  const { path, session, notice } = about
  return { title, options: { body, tag, silent: true, ...pictures, data: { path, session, answered: notice ?? about.answered } } }
}

/** The data of one of our notifications. */
export function aboutOf(notification: Pick<Notification, 'data'> | undefined): About | undefined {
  const data: unknown = notification?.data
  return typeof data === 'object' && data !== null && 'path' in data ? (data as About) : undefined
}

/** The status bar shows only a monochrome shape. */
export const badge = '/badge-96.png'
const pictures = { icon: '/icon-192.png', badge }

function sayingOf({ title, body }: Payload, preview: NoticePreview | undefined, words: PushWords): { title: string; body: string } {
  if (preview === undefined) return { title, body }
  const { title: session, asks } = preview
  switch (asks?.type) {
    case undefined:
      return { title, body: session || body }
    case 'question':
      return { title: session || title, body: asks.text || body }
    case 'permission': {
      const text = asks.text || body
      return { title: words.about(words.asks[asks.kind], session).trim(), body: asks.risk === 'risky' ? `${text}\n${words.risky}` : text }
    }
  }
}

/** Most useful first: a browser may have room for only one or two. */
function actionsFor(kind: string, preview: NoticePreview | undefined, { words, mayAllow, mayAnswer, takesText }: Ways): Action[] {
  const open: Action = { action: 'open', title: words.open }
  const snooze: Action = { action: 'snooze', title: words.snooze }
  const deny: Action = { action: 'deny', title: words.deny }
  const asks = preview?.asks
  switch (asks?.type) {
    case 'permission': {
      const first: Action = mayAllow && asks.mayAllow ? { action: 'allow', title: words.allow } : open
      return [first, deny, snooze]
    }
    case 'question': {
      const reply: Action = { action: 'reply', title: words.reply, type: 'text', placeholder: words.replyHint }
      return takesText && asks.reply !== undefined ? [reply, open, snooze] : [open, snooze]
    }
    case undefined:
      if (kind === 'test') return [open]
      return kind === 'permission' && mayAnswer ? [open, deny, snooze] : [open, snooze]
  }
}
