import t from 'tap'
import { unfinishedUploads } from '../../../../web/model/outbox/uploads.ts'
import { memoryDb } from '../../kit/device.ts'

const upload = (key: string, ...bytes: number[]) => ({
  ...{ key, name: `${key}.png`, mimeType: 'image/png', size: bytes.length },
  sealed: new Uint8Array(bytes)
})

/** The storage of a device; `fails`: it stores and reads nothing more. */
function device() {
  const db = memoryDb()
  const state = { fails: false, damaged: '' }
  const open = async () => {
    if (state.fails) throw new Error('no storage')
    return { ...db, read: async (name: string) => (name === state.damaged ? Promise.reject(new Error('damaged')) : db.read(name)) }
  }
  return { db, state, of: (session: string) => unfinishedUploads(session, open) }
}

t.test('files that were not uploaded are there again after the app was closed, each session its own', async t => {
  const { of } = device()
  await of('s1').keep(upload('a', 1, 2, 3))
  await of('s1').keep(upload('b', 4))
  await of('s1').noteRef('b', 'sessions/s1/attachments/x.enc')
  await of('s1').noteRef('never there', 'x')
  await of('s2').keep(upload('a', 9))
  t.same(await of('s1').read(), [upload('a', 1, 2, 3), { ...upload('b', 4), ref: 'sessions/s1/attachments/x.enc' }])
  t.same(await of('s2').read(), [upload('a', 9)])
  t.same(await of('s3').read(), [])
})

t.test('an upload that is done leaves nothing on the device, nor does one whose bytes are gone', async t => {
  const { db, of } = device()
  await of('s1').keep(upload('a', 1))
  await of('s1').keep(upload('b', 2))
  await of('s1').drop('a')
  t.same([await db.read('upload.s1.a'), await of('s1').read()], [undefined, [upload('b', 2)]])
  await db.remove('upload.s1.b')
  t.same(await of('s1').read(), [])
  t.equal(await db.read('uploads.s1'), undefined)
})

t.test('bytes that cannot be read are left out, and the others are not', async t => {
  const { db, state, of } = device()
  for (const key of ['a', 'b', 'c']) await of('s1').keep(upload(key, 1))
  await db.write('upload.s1.a', 7)
  await db.write('upload.s1.b', 'no base64!')
  state.damaged = 'upload.s1.c'
  await of('s1').keep(upload('d', 4))
  t.same(await of('s1').read(), [upload('d', 4)])
})

t.test('a device that stores nothing uploads all the same', async t => {
  const { state, of } = device()
  state.fails = true
  const uploads = of('s1')
  await t.resolves(uploads.keep(upload('a', 1)))
  await t.resolves(uploads.noteRef('a', 'x'))
  await t.resolves(uploads.drop('a'))
  t.same(await uploads.read(), [])
})
