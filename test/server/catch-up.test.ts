import t from 'tap'
import { signUp, type Untyped } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { listen } from './heard.ts'

t.test('a client that listens first and then reads has every message, however many are written meanwhile [S2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  let written = 0
  let isOver = false
  const writer = (async () => {
    while (!isOver) {
      await ada.send(session, { localId: `first of ${written}` }, { localId: `second of ${written}` })
      written += 2
    }
  })()

  const readers: { read: number[]; live: Untyped[]; settled: () => Promise<void> }[] = []
  for (let reader = 0; reader < 12; reader += 1) {
    const heard = listen(await ada.connect())
    const read: number[] = []
    for (let more = true; more; ) {
      const { body } = await ada.call('GET', `/v3/sessions/${session}/messages?after_seq=${read.at(-1) ?? 0}&limit=7`)
      read.push(...body.messages.map(({ seq }: Untyped) => seq))
      more = body.hasMore
    }
    readers.push({ read, live: heard.updates, settled: heard.settled })
  }
  isOver = true
  await writer

  const all = Array.from({ length: written }, (_, index) => index + 1)
  for (const { read, live, settled } of readers) {
    await settled()
    const seen = new Set([...read, ...live.map(({ body }) => body.message.seq)])
    t.same(
      [...seen].toSorted((a, b) => a - b),
      all
    )
  }
  t.ok(
    readers.some(({ read, live }) => live.some(({ body }) => read.includes(body.message.seq))),
    'they did write meanwhile'
  )
})
