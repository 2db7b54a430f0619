import 'fake-indexeddb/auto'
import t from 'tap'
import { deviceDb } from '../../../web/core/device-db.ts'
import { unfinishedUploads } from '../../../web/model/outbox/uploads.ts'
import { storeFirstMessage } from '../../../web/new/first-message.ts'

type Files = Parameters<typeof storeFirstMessage>[3]

const image = { width: 2, height: 1 }
const files: Files = [
  { name: 'tree.png', mimeType: 'image/png', bytes: new Uint8Array([1, 2, 3]), image },
  { name: 'list.txt', mimeType: 'text/plain', bytes: new Uint8Array([4]) }
]

/** Seals by adding a byte, if the session is known. */
function live(isKnown = true): Parameters<typeof storeFirstMessage>[0] {
  const seal = (session: string, bytes: Uint8Array) => {
    if (!isKnown) throw new Error(`no key of ${session}`)
    return new Uint8Array([9, ...bytes])
  }
  return { files: { seal } } as unknown as Parameters<typeof storeFirstMessage>[0]
}

t.test('the first message is the draft of its session, and leaves once its files have', async t => {
  const db = await deviceDb()
  t.equal(await storeFirstMessage(live(), 's1', 'Prune the pears', files), true)
  t.same([await db.read('draft.s1'), await db.read('draft-leaves.s1')], ['Prune the pears', 2])
  const uploads = await unfinishedUploads('s1').read()
  t.same(
    uploads.map(({ key: _, ...upload }) => upload),
    [
      { name: 'tree.png', mimeType: 'image/png', image, size: 3, sealed: new Uint8Array([9, 1, 2, 3]) },
      { name: 'list.txt', mimeType: 'text/plain', size: 1, sealed: new Uint8Array([9, 4]) }
    ]
  )
  t.equal(new Set(uploads.map(({ key }) => key)).size, 2)
})

t.test('of a session that is not known yet only the text is stored, and a person sends it', async t => {
  const db = await deviceDb()
  t.equal(await storeFirstMessage(live(false), 's2', 'Prune the pears', files), false)
  t.same(
    [await db.read('draft.s2'), await db.read('draft-leaves.s2'), await unfinishedUploads('s2').read()],
    ['Prune the pears', undefined, []]
  )
})
