import type { ArtifactId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { Check } from '../../contracts/check.ts'
import { found, newAccount, openFor, type StorePlace, sealed } from './kit.ts'

const artifactId = (text: string) => v.parse(ids.artifactId, text)
const draft = (id: ArtifactId, more: object = {}) => ({
  id,
  header: sealed('header'),
  body: sealed('body'),
  dataKey: sealed('key'),
  now: 5,
  ...more
})
const part = (expected: number, value: string) => ({ expected, value: sealed(value) })
const one = artifactId('one')

export function artifactContract(t: Check, place: StorePlace): void {
  t.test('an artifact is found or created under its own id, at version 1', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const artifact = {
      id: 'one',
      header: { version: 1, value: 'header' },
      body: { version: 1, value: 'body' },
      dataKey: 'key',
      seq: 0,
      createdAt: 5,
      updatedAt: 5
    }
    t.same(await store.openArtifact(ann, draft(one)), { artifact, created: true, clock: 1 })
    t.same(await store.openArtifact(ann, draft(one, { header: sealed('other') })), { artifact, created: false, clock: 1 })
    t.same(await store.findArtifact(ann, one), artifact)
    const { body, ...head } = artifact
    t.same(await store.listArtifacts(ann, 10), [head])
    t.equal(await store.findArtifact(ann, artifactId('nowhere')), 'missing')
  })

  t.test('artifacts are listed by their last change, newest first', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const [two, three] = [artifactId('two'), artifactId('three')]
    for (const [id, now] of [
      [one, 1],
      [two, 2],
      [three, 2]
    ] as const)
      await store.openArtifact(ann, draft(id, { now }))
    const listed = async (limit: number) => (await store.listArtifacts(ann, limit)).map(({ id }) => id)
    t.same(await listed(10), [three, two, one])
    await store.writeArtifact(ann, one, { body: part(1, 'new') }, 3)
    t.same(await listed(2), [one, three])
  })

  t.test('both parts are written or neither, each with its own version [X4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await store.openArtifact(ann, draft(one))
    const write = (header: number | undefined, body: number | undefined) =>
      store.writeArtifact(
        ann,
        one,
        { ...(header && { header: part(header, `h${header}`) }), ...(body && { body: part(body, `b${body}`) }) },
        9
      )
    t.same(await write(1, undefined), { written: true, header: { version: 2, value: 'h1' }, clock: 2 })
    t.same(await write(2, 2), { written: false, body: { version: 1, value: 'body' } })
    t.same(await write(1, 1), { written: false, header: { version: 2, value: 'h1' } })
    t.same(await write(7, 7), { written: false, header: { version: 2, value: 'h1' }, body: { version: 1, value: 'body' } })
    t.match(await store.findArtifact(ann, one), { header: { version: 2, value: 'h1' }, body: { version: 1, value: 'body' }, seq: 1 })
    t.same(await write(2, 1), { written: true, header: { version: 3, value: 'h2' }, body: { version: 2, value: 'b1' }, clock: 3 })
    t.match(await store.findArtifact(ann, one), { seq: 2, updatedAt: 9, createdAt: 5 })
  })

  t.test('of many writers with one version, one wins, and the others get the current value [X4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await store.openArtifact(ann, draft(one))
    for (let version = 1; version < 6; version += 1) {
      const outcomes = await Promise.all(
        [0, 1, 2, 3].map(writer => store.writeArtifact(ann, one, { header: part(version, `${version}.${writer}`) }, 9))
      )
      const [winner, ...others] = outcomes.map(found).toSorted((left, right) => Number(right.written) - Number(left.written))
      t.match(winner, { written: true, header: { version: version + 1 } })
      for (const other of others) t.same(other, { written: false, header: winner?.header })
    }
  })

  t.test('a removed artifact is gone, and its id can be reused', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await store.openArtifact(ann, draft(one))
    t.same(await store.remove(ann, { of: 'artifact', id: one }), { clock: 2 })
    t.equal(await store.remove(ann, { of: 'artifact', id: one }), 'missing')
    t.equal(await store.findArtifact(ann, one), 'missing')
    t.equal(await store.writeArtifact(ann, one, { header: part(1, 'x') }, 1), 'missing')
    t.match(await store.openArtifact(ann, draft(one)), { created: true, clock: 3 })
  })

  t.test('an artifact of another account counts as missing, and its id is free [I1] [I3]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const { artifact } = await store.openArtifact(ann, draft(one))
    const strangers = async () => {
      t.equal(await store.findArtifact(eve, one), 'missing')
      t.same(await store.listArtifacts(eve, 10), [])
      t.equal(await store.writeArtifact(eve, one, { header: part(1, 'evil') }, 9), 'missing')
      t.equal(await store.writeArtifact(eve, one, { body: part(8, 'evil') }, 9), 'missing')
      t.equal(await store.remove(eve, { of: 'artifact', id: one }), 'missing')
    }
    await strangers()
    t.match(await store.openArtifact(eve, draft(one, { body: sealed('of eve') })), { created: true, clock: 1 })
    await store.writeArtifact(eve, one, { header: part(1, 'evil'), body: part(1, 'evil') }, 9)
    await store.remove(eve, { of: 'artifact', id: one })
    await strangers()
    t.same(await store.findArtifact(ann, one), artifact)
  })
}
