import { noAnswer, noAnswerInTime, type Outgoing, type Push, type PushProvider, type PushReceipt, type SendOutcome } from '../push.ts'

/**
 * An embedder's own delivery, in place of every provider; what it could not deliver is passed to it again
 * later.
 */
export function customProvider(push: Push, onError: (error: unknown) => void): PushProvider {
  return {
    kind: 'own',
    mostAtOnce: 100,
    acknowledges: false,
    clears: false,
    knows: () => true,
    flawOf: () => undefined,
    async send(all, signal) {
      const outcomes = new Map<Outgoing, SendOutcome>()
      const handOver = async (of: Outgoing[]) => {
        const [first] = of
        if (!first) return
        const { kind, session, title, body } = first
        const tokens = of.map(({ token }) => token)
        const receipts = await push({ kind, session, title, body }, tokens, signal).catch((error: unknown) => {
          onError(error)
          return []
        })
        for (const one of of) outcomes.set(one, ownOutcome(receipts.find(({ token }) => token === one.token)?.outcome ?? 'unreachable'))
      }
      await Promise.all([...Map.groupBy(all, ({ notice, kind }) => `${notice} ${kind}`).values()].map(handOver))
      return all.map(one => outcomes.get(one) ?? { outcome: 'unreachable' })
    }
  }
}

function ownOutcome(outcome: PushReceipt['outcome']): SendOutcome {
  switch (outcome) {
    case 'delivered':
      return { outcome: 'accepted' }
    case 'late':
      return { outcome: 'unreachable', reason: noAnswerInTime }
    case 'unreachable':
      return { outcome, reason: noAnswer }
    default:
      return { outcome }
  }
}

/**
 * For tokens that no provider knows: they are stored, since existing apps retry a rejected registration
 * forever, and go nowhere.
 */
export const unknownProvider: PushProvider = {
  kind: 'unknown',
  mostAtOnce: 100,
  acknowledges: false,
  clears: false,
  knows: () => true,
  flawOf: () => undefined,
  send: async all => all.map(() => ({ outcome: 'unknown' }))
}
