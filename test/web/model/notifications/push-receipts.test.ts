import t from 'tap'
import { Refused, Unreachable } from '../../../../lib/client/index.ts'
import { sendReceipts } from '../../../../web/model/notifications/push-receipts.ts'

function world() {
  let kept: unknown
  const told: string[] = []
  const state: { failure: Error | undefined } = { failure: undefined }
  const link = {
    db: {
      read: async () => kept,
      change: async (_: string, next: (now: unknown) => unknown) => {
        kept = next(kept) ?? kept
        return kept
      }
    },
    rest: {
      async call(_: string, { body }: { body: { receipt: string } }) {
        if (state.failure) throw state.failure
        told.push(body.receipt)
        return { success: true }
      }
    }
  }
  return { link: link as unknown as Parameters<typeof sendReceipts>[0], told, state, left: () => kept }
}

t.test('an arrival that could not be reported is reported with the next, once', async t => {
  const { link, told, state, left } = world()
  state.failure = new Unreachable('network')
  t.equal(await sendReceipts(link, ['r1']), false)
  t.same([told, left()], [[], ['r1']])
  state.failure = undefined
  t.equal(await sendReceipts(link, ['r2']), true)
  t.same([told, left()], [['r1', 'r2'], []])
  await sendReceipts(link)
  t.same(told, ['r1', 'r2'])
})

t.test('a rejected report is not sent again, and rate limiting is not a rejection', async t => {
  const { link, told, state, left } = world()
  state.failure = new Refused(429, 'Too Many Requests')
  t.equal(await sendReceipts(link, ['r1']), false)
  state.failure = new Refused(400, 'Bad input')
  t.equal(await sendReceipts(link), true)
  t.same([told, left()], [[], []])
})

t.test('a device that is offline for long keeps only its latest arrivals', async t => {
  const { link, state, left } = world()
  state.failure = new Unreachable('network')
  for (let each = 0; each < 30; each++) await sendReceipts(link, [`r${each}`])
  t.same(
    left(),
    Array.from({ length: 20 }, (_, index) => `r${index + 10}`)
  )
})
