import type { Cipher } from '../../crypto/envelopes.ts'
import { type NoticePreview, noticePreview } from '../../protocol/sealed/preview.ts'
import * as v from '../../schema.ts'
import type { AccountVault, SealingKey } from './vault.ts'

/** As the server accepts it, see the route `notify`. */
const mostLetters = 2560
/** Of the texts in it; halved until everything fits. */
const longestText = 600

/** What a notified device shows of a session. */
export interface PreviewPlace {
  readonly session: string
  readonly notice: string
}

/**
 * Encrypts with the key of the session, and adds that key as wrapped for the account: a recipient
 * needs nothing else to decrypt it and to encrypt an answer. Texts are cut to fit; a cut text is not
 * complete and cannot be allowed. Undefined if it still does not fit.
 */
export function sealPreview(
  { cipher, wrapped }: Pick<SealingKey, 'cipher' | 'wrapped'>,
  place: PreviewPlace,
  preview: Omit<NoticePreview, 'sealedFor'>
): string | undefined {
  for (let longest = longestText; longest >= 32; longest = Math.floor(longest / 2)) {
    const sealed = cipher.seal({ sealedFor: { type: 'preview', ...place }, ...cutTo(preview, longest) })
    const whole = `${wrapped ?? ''}.${sealed}`
    if (whole.length <= mostLetters) return whole
  }
  return undefined
}

/**
 * With the cipher of its session, which also encrypts an answer. Undefined if it belongs to another
 * account, session or notice.
 */
export function openPreview(
  { openKey }: Pick<AccountVault, 'openKey'>,
  sealed: string,
  place: PreviewPlace
): { cipher: Cipher; preview: NoticePreview } | undefined {
  const [wrapped, text, ...more] = sealed.split('.')
  if (wrapped === undefined || text === undefined || more.length > 0) return undefined
  const cipher = openKey(wrapped === '' ? null : wrapped)
  const opened = cipher?.open(text)
  if (cipher === undefined || !opened?.ok) return undefined
  const { data: preview } = v.safeParse(noticePreview, opened.value)
  const isHere = preview?.sealedFor.session === place.session && preview.sealedFor.notice === place.notice
  return preview && isHere ? { cipher, preview } : undefined
}

function cutTo({ title, asks, ...more }: Omit<NoticePreview, 'sealedFor'>, longest: number): Omit<NoticePreview, 'sealedFor'> {
  const shortTitle = cut(title, Math.min(longest, 120))
  if (asks === undefined) return { ...more, title: shortTitle }
  const text = cut(asks.text, longest)
  const isCut = text !== asks.text
  const left = isCut && asks.type === 'permission' ? { isWhole: false, mayAllow: false } : {}
  return { ...more, title: shortTitle, asks: { ...asks, text, ...left } as typeof asks }
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
