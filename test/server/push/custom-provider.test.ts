import t from 'tap'
import { customProvider, unknownProvider } from '../../../lib/server/push/custom-provider.ts'
import type { Push, PushReceipt } from '../../../lib/server/push.ts'
import { never, outgoing, session } from './outgoing.ts'

const failed = (error: unknown) => t.fail(String(error))

t.test("an embedder's delivery gets each notice once, with all its tokens, and nothing else of it", async t => {
  const given: unknown[] = []
  const push: Push = async (notice, tokens, signal) => {
    given.push([notice, tokens])
    t.equal(signal, never)
    return tokens.map(token => ({ token, outcome: 'delivered' }))
  }
  const all = [
    outgoing({ token: 'a' }),
    outgoing({ token: 'b', notice: 'n2', kind: 'done', session: undefined }),
    outgoing({ token: 'c' }),
    outgoing({ token: 'd', kind: 'question' })
  ]
  t.strictSame(
    await customProvider(push, failed).send(all, never),
    all.map(() => ({ outcome: 'accepted' }))
  )
  const texts = { title: 'A title', body: 'A body' }
  t.strictSame(given, [
    [{ kind: 'permission', session, ...texts }, ['a', 'c']],
    [{ kind: 'done', session: undefined, ...texts }, ['b']],
    [{ kind: 'question', session, ...texts }, ['d']]
  ])
  t.strictSame(await customProvider(push, failed).send([], never), [])
})

t.test('its result for each token is the result of that notice, and a token without one is tried again', async t => {
  const receipts: PushReceipt[] = [
    { token: 'late', outcome: 'late' },
    { token: 'gone', outcome: 'gone' },
    { token: 'unknown', outcome: 'unknown' },
    { token: 'refused', outcome: 'refused' },
    { token: 'unreachable', outcome: 'unreachable' },
    { token: 'delivered', outcome: 'delivered' }
  ]
  const tokens = ['delivered', 'gone', 'unknown', 'refused', 'unreachable', 'late', 'forgotten']
  const sent = await customProvider(async () => receipts, failed).send(
    tokens.map(token => outgoing({ token })),
    never
  )
  t.strictSame(sent, [
    { outcome: 'accepted' },
    { outcome: 'gone' },
    { outcome: 'unknown' },
    { outcome: 'refused' },
    { outcome: 'unreachable', reason: 'no answer' },
    { outcome: 'unreachable', reason: 'no answer in time' },
    { outcome: 'unreachable', reason: 'no answer' }
  ])
})

t.test('a delivery that fails is reported, and passed to it again later', async t => {
  const errors: unknown[] = []
  const provider = customProvider(
    async () => {
      throw new Error('away')
    },
    error => errors.push(error)
  )
  t.strictSame(await provider.send([outgoing({ token: 'a' })], never), [{ outcome: 'unreachable', reason: 'no answer' }])
  t.match(errors, [{ message: 'away' }])
})

t.test('the provider of an embedder takes every token, as does the one for unknown tokens', async t => {
  const own = customProvider(async () => [], failed)
  const shared = { mostAtOnce: 100, acknowledges: false, clears: false }
  for (const [provider, kind] of [
    [own, 'own'],
    [unknownProvider, 'unknown']
  ] as const) {
    t.match(provider, { kind, ...shared })
    t.equal(provider.knows('anything'), true)
    t.equal(provider.flawOf('anything'), undefined)
  }
  t.strictSame(await unknownProvider.send([outgoing(), outgoing()], never), [{ outcome: 'unknown' }, { outcome: 'unknown' }])
})
