import type { SealedBy } from '../../protocol/sealed/sealed-for.ts'

/** The position of a message among those of its sender. */
export type Place =
  | { readonly type: 'next' }
  /** `numbers` have not arrived before it. */
  | { readonly type: 'after-gap'; readonly numbers: readonly number[] }
  /** One of those, after others. */
  | { readonly type: 'late' }
  /** Its number was seen before. */
  | { readonly type: 'repeated' }

type Sender = Pick<SealedBy, 'sender' | 'number'>

/** The numbers of the senders of one session, in the order in which a server delivers their messages. */
export interface Order {
  take(by: SealedBy): Place
  /** Whether the number is missing, and was not withdrawn. */
  isMissing(of: Sender): boolean
  copy(): Order
}

interface Known {
  readonly highest: number
  readonly missing: ReadonlySet<number>
  /** Withdrawn; if one of these still arrives, it was stored although its sender was not told. */
  readonly gone: ReadonlySet<number>
}

/** No sender skips this many; a holder of the key could claim any number. */
const mostMissing = 1000

/** `isWhole`: it reads the session from its beginning, so that the first number of each sender is 1. */
export function createOrder(isWhole: boolean, before: ReadonlyMap<string, Known> = new Map()): Order {
  const senders = new Map(before)
  const knownOf = (sender: string, first: number): Known =>
    senders.get(sender) ?? { highest: isWhole ? 0 : first - 1, missing: new Set(), gone: new Set() }

  const noteGone = ({ sender, number }: Sender) => {
    const known = knownOf(sender, number)
    const missing = new Set(known.missing)
    missing.delete(number)
    senders.set(sender, { ...known, missing, gone: new Set([...known.gone, number].slice(-mostMissing)) })
  }

  return {
    take({ sender, number, gone = [] }) {
      for (const each of gone) noteGone(each)
      const known = knownOf(sender, number)
      if (number <= known.highest) {
        if (known.gone.has(number)) return { type: 'next' }
        if (!known.missing.has(number)) return { type: 'repeated' }
        senders.set(sender, { ...known, missing: new Set([...known.missing].filter(each => each !== number)) })
        return { type: 'late' }
      }
      const from = Math.max(known.highest + 1, number - mostMissing)
      const between = Array.from({ length: number - from }, (_, index) => from + index).filter(each => !known.gone.has(each))
      const missing = new Set([...known.missing, ...between].slice(-mostMissing))
      senders.set(sender, { ...known, highest: number, missing })
      return between.length === 0 ? { type: 'next' } : { type: 'after-gap', numbers: between }
    },
    isMissing: ({ sender, number }) => senders.get(sender)?.missing.has(number) === true,
    copy: () => createOrder(isWhole, senders)
  }
}
