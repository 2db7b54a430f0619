import t, { type Test } from 'tap'
import { openAccountLink } from '../../../../web/model/account/link.ts'

/** A link whose code and opening end as the test says; `pass` lets the wait for the next attempt pass. */
function start(t: Test) {
  const done: unknown[] = []
  const loads: PromiseWithResolvers<void>[] = []
  const openings: PromiseWithResolvers<{ close(): Promise<void> }>[] = []
  const timers = new Map<number, { run: () => void; ms: number }>()
  let ids = 0
  t.intercept(globalThis, 'setTimeout', {
    value(run: () => void, ms: number) {
      timers.set(++ids, { run, ms })
      return ids
    }
  })
  t.intercept(globalThis, 'clearTimeout', { value: (id: number) => timers.delete(id) })
  const link = openAccountLink({
    async load() {
      const load = Promise.withResolvers<void>()
      loads.push(load)
      await load.promise
      return () => {
        const opening = Promise.withResolvers<{ close(): Promise<void> }>()
        openings.push(opening)
        return opening.promise
      }
    },
    onLive: () => done.push('live'),
    onFailed: (error, againInMs) => done.push([error, againInMs])
  })
  return {
    link,
    done,
    opened: () => openings.length,
    async load(error?: Error) {
      if (error) loads.at(-1)?.reject(error)
      else loads.at(-1)?.resolve()
      await turn()
    },
    async open(result: { close(): Promise<void> } | Error) {
      if (result instanceof Error) openings.at(-1)?.reject(result)
      else openings.at(-1)?.resolve(result)
      await turn()
    },
    timers: () => [...timers.values()].map(({ ms }) => ms),
    async pass() {
      const [[id, { run }] = [0, { run() {} }]] = timers
      timers.delete(id)
      run()
      await turn()
    }
  }
}

const turn = () => new Promise<void>(resolve => setImmediate(resolve))
const closable = (closed: string[], name: string) => ({
  async close() {
    closed.push(name)
  }
})

t.test('a link that failed to load or to open is tried again every five seconds, and then closed once', async t => {
  const [noCode, noServer] = [new Error('no code'), new Error('no server')]
  const closed: string[] = []
  const { link, done, load, open, pass, timers } = start(t)
  await load(noCode)
  t.same([done, timers()], [[[noCode, 5000]], [5000]])
  await pass()
  await load()
  await open(noServer)
  t.same([done.at(-1), timers()], [[noServer, 5000], [5000]])
  await pass()
  await load()
  await open(closable(closed, 'one'))
  t.same([done.length, done.at(-1), timers()], [3, 'live', []])
  await link.close()
  t.same(closed, ['one'])
})

t.test('one closed while its code loads never opens', async t => {
  const { link, done, load, opened } = start(t)
  await link.close()
  await load()
  t.same([opened(), done], [0, []])
})

t.test('one closed while it opens is closed as soon as it is there, and never goes live', async t => {
  const closed: string[] = []
  const { link, done, load, open } = start(t)
  await load()
  const closing = link.close()
  await open(closable(closed, 'one'))
  await closing
  t.same([closed, done], [['one'], []])
})

t.test('one closed is not tried again, whether it fails then or failed before', async t => {
  for (const fails of ['before', 'then']) {
    const { link, done, load, open, timers } = start(t)
    await load()
    if (fails === 'before') await open(new Error('no server'))
    const closing = link.close()
    if (fails === 'then') await open(new Error('no server'))
    await closing
    t.same([done.length, timers()], [fails === 'before' ? 1 : 0, []], fails)
  }
})

t.test('closing succeeds also where the link does not close', async t => {
  const { link, load, open } = start(t)
  await load()
  await open({ close: () => Promise.reject(new Error('gone')) })
  await t.resolves(link.close())
})
