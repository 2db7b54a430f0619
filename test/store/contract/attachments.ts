import { randomUUID } from 'node:crypto'
import type { AccountId, AttachmentId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { found, newAccount, newSession, openFor, type StorePlace, sha256 } from './kit.ts'

const newName = () => v.parse(ids.attachmentId, `${randomUUID()}.enc`)
const text = (bytes: Uint8Array | 'missing') => Buffer.from(found(bytes)).toString()

interface Place {
  account: AccountId
  session: SessionId
  id: AttachmentId
}

async function openUpload(store: Store, account: AccountId, more: { size?: number; endsAt?: number } = {}): Promise<Place> {
  const session = await newSession(store, account)
  const id = newName()
  await store.openUpload(account, session, { id, size: 6, now: 1, endsAt: 100, ...more })
  return { account, session, id }
}

function append(store: Store, { account, session, id }: Place, at: number, what: string, more: { attempt?: number; now?: number } = {}) {
  const piece = { attempt: 0, at, bytes: Buffer.from(what), now: 2, endsAt: 200, ...more }
  return store.appendPiece(account, session, id, piece)
}

async function upload(store: Store, account: AccountId): Promise<Place> {
  const place = await openUpload(store, account)
  await append(store, place, 0, 'abc')
  await append(store, place, 3, 'def')
  await store.completeUpload(account, place.session, place.id, { attempt: 0, received: 6, sha256: sha256('abcdef'), now: 3 })
  return place
}

export function attachmentContract(t: Check, place: StorePlace): void {
  t.test('pieces are accepted in order, each once, and read back from any offset', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const file = await openUpload(store, ann)
    const { session, id } = file
    t.same(await store.findUpload(ann, session, id, 1), { size: 6, received: 0, attempt: 0, sha256: null })
    t.match(await append(store, file, 0, 'abcd'), { received: 4, taken: true })
    t.match(await append(store, file, 0, 'abcd'), { received: 4, taken: false }, 'a repeat adds nothing')
    t.match(await append(store, file, 5, 'f'), { received: 4, taken: false }, 'a gap is not taken')
    t.match(await append(store, file, 4, 'ef'), { received: 6, taken: true })
    const read = async (at: number) => text(await store.readPiece(ann, session, id, at))
    t.same([await read(0), await read(1), await read(3), await read(4), await read(5), await read(6)], ['abcd', 'bcd', 'd', 'ef', 'f', ''])
  })

  t.test('an upload is complete once declared so, and never changes again', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const file = await openUpload(store, ann, { size: 9 })
    const { session, id } = file
    await append(store, file, 0, 'abc')
    const complete = (received: number, attempt = 0) =>
      store.completeUpload(ann, session, id, { attempt, received, sha256: sha256('abc'), now: 3 })
    t.match(await complete(2), { taken: false, sha256: null })
    t.match(await complete(3, 1), { taken: false, sha256: null })
    const whole = { size: 3, received: 3, attempt: 0, sha256: sha256('abc') }
    t.same(await complete(3), { ...whole, taken: true })
    t.same(await complete(3), { ...whole, taken: false })
    t.same(await append(store, file, 3, 'more'), { ...whole, taken: false })
    t.same(await store.restartUpload(ann, session, id, 3), whole)
    t.same(await store.findUpload(ann, session, id, 1e12), whole, 'however late it is')
    t.equal(text(await store.readPiece(ann, session, id, 0)), 'abc')
  })

  t.test('a restarted upload reuses nothing of the previous attempt', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const file = await openUpload(store, ann)
    await append(store, file, 0, 'old')
    t.same(await store.restartUpload(ann, file.session, file.id, 2), { size: 6, received: 0, attempt: 1, sha256: null })
    t.match(await append(store, file, 0, 'old'), { taken: false })
    t.match(await append(store, file, 0, 'new', { attempt: 1 }), { received: 3, taken: true })
    t.match(await append(store, file, 3, 'old'), { taken: false })
    t.equal(text(await store.readPiece(ann, file.session, file.id, 0)), 'new')
    t.equal(await store.readAttachmentBytes(ann), 3)
  })

  t.test('an unfinished upload expires when idle, and is removed', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const file = await openUpload(store, ann)
    const { session, id } = file
    await append(store, file, 0, 'abc', { now: 99 })
    t.match(await store.findUpload(ann, session, id, 199), { received: 3 })
    t.equal(await store.findUpload(ann, session, id, 200), 'missing')
    t.equal(await append(store, file, 3, 'def', { now: 200 }), 'missing')
    t.equal(await store.restartUpload(ann, session, id, 200), 'missing')
    t.equal(await store.completeUpload(ann, session, id, { attempt: 0, received: 3, sha256: 'x', now: 200 }), 'missing')
    t.equal(await store.sweepLeftovers(199), 'done')
    t.equal(await store.readAttachmentBytes(ann), 3)
    t.equal(await store.sweepLeftovers(200), 'more')
    t.equal(await store.sweepLeftovers(200), 'done')
    t.equal(await store.readAttachmentBytes(ann), 0)
    t.equal(await store.readPiece(ann, session, id, 0), 'missing')
  })

  t.test('attachments go with their session, and those of others stay', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const [gone, stays] = [await upload(store, ann), await upload(store, ann)]
    t.equal(await store.readAttachmentBytes(ann), 12)
    await store.remove(ann, { of: 'session', id: gone.session })
    t.equal(await store.findUpload(ann, gone.session, gone.id, 1), 'missing')
    t.equal(await store.readPiece(ann, gone.session, gone.id, 0), 'missing')
    t.equal(await store.sweepLeftovers(1), 'more')
    t.equal(await store.sweepLeftovers(1), 'done')
    t.equal(await store.readAttachmentBytes(ann), 6)
    t.equal(text(await store.readPiece(ann, stays.session, stays.id, 0)), 'abc')
  })

  t.test('two sessions with an attachment of the same name are removed one after the other', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const id = newName()
    const sessions = [await newSession(store, ann), await newSession(store, ann)]
    for (const session of sessions) await store.openUpload(ann, session, { id, size: 6, now: 1, endsAt: 100 })
    for (const session of sessions) t.match(await store.remove(ann, { of: 'session', id: session }), { clock: Number })
    for (const session of sessions) t.equal(await store.findUpload(ann, session, id, 1), 'missing')
  })

  t.test('an attachment is found with its own session and account only [I1]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const file = await upload(store, ann)
    const open = await openUpload(store, ann)
    const [elsewhere, ofEve] = [await newSession(store, ann), await newSession(store, eve)]
    const strangers: [AccountId, SessionId][] = [
      [eve, file.session],
      [eve, open.session],
      [eve, ofEve],
      [ann, elsewhere]
    ]
    for (const [account, session] of strangers) {
      for (const { id } of [file, open, { id: newName() }]) {
        const place = { account, session, id }
        t.equal(await store.findUpload(account, session, id, 1), 'missing')
        t.equal(await store.restartUpload(account, session, id, 1), 'missing')
        t.equal(await append(store, place, 0, 'evil'), 'missing')
        t.equal(await store.completeUpload(account, session, id, { attempt: 0, received: 0, sha256: 'x', now: 1 }), 'missing')
        t.equal(await store.readPiece(account, session, id, 0), 'missing')
      }
    }
    const missing = { id: newName(), size: 1, now: 1, endsAt: 9 }
    t.equal(await store.openUpload(eve, file.session, missing), 'missing')
    t.same([await store.readAttachmentBytes(ann), await store.readAttachmentBytes(eve)], [6, 0])
    t.match(await store.findUpload(ann, open.session, open.id, 1), { received: 0, attempt: 0 })
  })
}
