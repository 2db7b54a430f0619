import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Rest } from '../../../lib/client/link/rest.ts'
import type { LinkState } from '../../../lib/wrapper/uplink/link.ts'
import { createUnknownSession } from '../../../lib/wrapper/uplink/open.ts'

/** One session, and a server that says of it what it removed. */
function world(removed: readonly string[]) {
  const links: LinkState['type'][] = []
  const opening = Promise.withResolvers<void>()
  let opened = 0
  let current = 'before'
  const page = { complete: true, more: false, removed: removed.map(id => ({ of: 'session', id })) }
  const unknown = createUnknownSession({
    rest: { call: async () => page } as unknown as Rest,
    link: { enter: ({ type }) => void links.push(type) },
    signal: new AbortController().signal,
    current: () => current,
    async openAgain() {
      opened++
      await opening.promise
    }
  })
  return {
    unknown,
    links,
    get opened() {
      return opened
    },
    answer(id: string) {
      current = id
      opening.resolve()
    }
  }
}

t.test('a session unknown to several simultaneous requests is opened again once', async t => {
  const now = world([])
  const first = now.unknown.isOpenedAgain('before')
  while (now.opened === 0) await setImmediate()
  const second = now.unknown.isOpenedAgain('before')
  now.answer('after')
  t.same(await Promise.all([first, second]), [true, true])
  t.equal(await now.unknown.isOpenedAgain('before'), true, 'nor by a request that was refused under the old name')
  t.same([now.opened, now.links], [1, []])
})

t.test('one that is unknown again under the same name is not reopened endlessly', async t => {
  const now = world([])
  now.answer('before')
  t.same([await now.unknown.isOpenedAgain('before'), await now.unknown.isOpenedAgain('before')], [true, false])
  t.same([now.opened, now.links], [1, ['unknown']])
})

t.test('a removed one is over', async t => {
  const now = world(['another', 'before'])
  t.equal(await now.unknown.isOpenedAgain('before'), false)
  t.same([now.opened, now.links], [0, ['gone']])
})
