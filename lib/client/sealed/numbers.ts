import type { SealedBy } from '../../protocol/sealed/sealed-for.ts'
import { type Numbers, newId } from './messages.ts'

/** Kept for the life of the process, which is a sender of its own. */
export function createNumbers(session: string): Numbers {
  const sender = newId()
  const gone = createGone()
  let last = 0
  return {
    next() {
      last += 1
      return { sender, number: last, session, ...gone.take() }
    },
    giveUp: gone.add
  }
}

/** Withdrawn numbers not yet announced. */
export function createGone(): { add(by: SealedBy): void; take(): Pick<SealedBy, 'gone'> } {
  let unreported: NonNullable<SealedBy['gone']> = []
  return {
    add({ sender, number, gone = [] }) {
      // The numbers it would have announced were not announced either.
      unreported = [...unreported, ...gone, { sender, number }].slice(-mostUnreported)
    },
    take() {
      const reported = unreported
      unreported = []
      return reported.length === 0 ? {} : { gone: reported }
    }
  }
}

const mostUnreported = 500
