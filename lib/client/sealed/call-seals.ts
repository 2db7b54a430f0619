import type { Cipher } from '../../crypto/envelopes.ts'
import { type SealedFor, sealedAnswer, sealedFor } from '../../protocol/sealed/sealed-for.ts'
import * as v from '../../schema.ts'

/**
 * Whether the other holder of a key is known to name what it seals. Remembered permanently once it is:
 * from then on nothing nameless from it is accepted, so that a server cannot downgrade it.
 */
export interface Pin {
  readonly isSet: boolean
  set(): void
}

/** With what is known of the other side; without a pin nothing is known, and nameless text is accepted. */
export interface PeerCipher extends Cipher {
  readonly pin?: Pin | undefined
}

export type CallParams = Readonly<Record<string, unknown>> | undefined

export function sealCall(cipher: Cipher, name: Omit<SealedFor, 'type'>, params: CallParams): string {
  const about: SealedFor = { type: 'call', ...name }
  return cipher.seal({ ...params, sealedFor: about })
}

export type OpenedCall =
  | { readonly type: 'named'; readonly name: SealedFor; readonly params: unknown }
  /** By an existing client, or an earlier version of ours. */
  | { readonly type: 'nameless'; readonly params: unknown }
  /** Sealed for something other than what it is presented as. */
  | { readonly type: 'astray'; readonly name: SealedFor | undefined }
  | { readonly type: 'unreadable' }

const named = v.looseObject({ sealedFor: v.unknown() })

/** A call of this method of this target. */
export function openCall(cipher: Cipher, sealed: string, at: Pick<SealedFor, 'target' | 'method'>): OpenedCall {
  const opened = cipher.open(sealed)
  if (!opened.ok) return { type: 'unreadable' }
  const read = v.safeParse(named, opened.value).data
  if (read === undefined || !Object.hasOwn(read, 'sealedFor')) return { type: 'nameless', params: opened.value }
  const { sealedFor: about, ...params } = read
  const name = v.safeParse(sealedFor, about).data
  const isHere = name?.type === 'call' && name.target === at.target && name.method === at.method
  return isHere ? { type: 'named', name, params } : { type: 'astray', name: name?.type === 'call' ? name : undefined }
}

/** A nameless caller gets a bare answer: it would not find the result in anything else. */
export function sealAnswer(cipher: Cipher, call: SealedFor | undefined, result: unknown): string {
  if (call === undefined) return cipher.seal(result)
  const { by: _, ...about }: SealedFor = { ...call, type: 'answer' }
  return cipher.seal({ sealedFor: about, result: result ?? null })
}

type OpenedAnswer =
  | { readonly type: 'result'; readonly result: unknown }
  /** The answer to another call, or a nameless one where names are required. */
  | { readonly type: 'astray' }
  | { readonly type: 'unreadable' }

/** The answer to this call. */
export function openCallAnswer(cipher: PeerCipher, sealed: string, call: Omit<SealedFor, 'type'>): OpenedAnswer {
  const opened = cipher.open(sealed)
  if (!opened.ok) return { type: 'unreadable' }
  const bare = v.safeParse(named, opened.value).data
  if (bare === undefined || !Object.hasOwn(bare, 'sealedFor')) {
    return cipher.pin?.isSet ? { type: 'astray' } : { type: 'result', result: opened.value }
  }
  const { data: answer } = v.safeParse(sealedAnswer, opened.value)
  const name = answer?.sealedFor
  const isOurs = name?.type === 'answer' && name.target === call.target && name.method === call.method && name.call === call.call
  if (answer === undefined || !isOurs) return { type: 'astray' }
  cipher.pin?.set()
  return { type: 'result', result: answer.result }
}
