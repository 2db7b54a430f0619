import t from 'tap'
import {
  type Cell,
  cryptoReady,
  openCell,
  Refused,
  type SealedCell,
  Unreachable,
  UnreadableCell,
  type WriteCell,
  writeAgentState,
  writeMachineMetadata,
  writeSessionMetadata,
  writeSettings
} from '../../../lib/client/index.ts'
import { type Cipher, dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { agentState } from '../../../lib/protocol/sealed/session.ts'
import * as v from '../../../lib/schema.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { FakeLink, turn } from '../link/fake-link.ts'
import { startWorld } from '../world.ts'

t.before(() => cryptoReady())

const counts = v.record(v.string(), v.number())
type Counts = v.InferOutput<typeof counts>
const increment = (name: string) => (value: Counts) => ({ ...value, [name]: (value[name] ?? 0) + 1 })

/** A server of one cell, over a line that loses answers when told to. */
class Place {
  cell: SealedCell = { value: null, version: 0 }
  writes = 0
  loses: 'nothing' | 'requests' | 'answers' = 'nothing'

  write: WriteCell = async (expected, value) => {
    this.writes++
    await turn()
    if (this.loses === 'requests') throw new Unreachable('network')
    const isFree = expected === this.cell.version
    if (isFree) this.cell = { value, version: expected + 1 }
    if (this.loses === 'answers') throw new Unreachable('network')
    return isFree ? { type: 'written', version: this.cell.version } : { type: 'conflict', ...this.cell }
  }
}

function openCounts(place: Place, cipher: Cipher) {
  const clock = manualClock()
  const link = new FakeLink()
  const seen: Counts[] = []
  const cell: Cell<Counts> = openCell({
    cipher,
    schema: counts,
    cell: place.cell,
    empty: {},
    write: place.write,
    socket: link,
    onChange: value => seen.push(value),
    clock,
    random: () => 1
  })
  return { cell, clock, link, seen }
}

t.test('changes of one turn share one write, all are applied, and all are reported', async t => {
  const place = new Place()
  const { cell, seen } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  const results = await Promise.all([cell.update(increment('a')), cell.update(increment('a')), cell.update(increment('b'))])
  t.strictSame(results[0], { a: 2, b: 1 })
  t.equal(place.writes, 1)
  t.strictSame(cell.value, { a: 2, b: 1 })
  t.strictSame(seen, [{ a: 2, b: 1 }])
})

t.test('two concurrent writers overwrite nothing of each other [X4]', async t => {
  const place = new Place()
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const [one, two] = [openCounts(place, cipher), openCounts(place, cipher)]
  const updates: Promise<Counts>[] = []
  for (let round = 0; round < 10; round++) {
    updates.push(one.cell.update(increment('one')), two.cell.update(increment('two')))
    await turn()
  }
  await Promise.all(updates)
  const last = openCounts(place, cipher).cell
  t.strictSame(last.value, { one: 10, two: 10 })
})

t.test('after a server restore to an older version, writing continues from that version [O6]', async t => {
  const place = new Place()
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const { cell } = openCounts(place, cipher)
  await cell.update(increment('a'))
  const older = { ...place.cell }
  for (let round = 0; round < 3; round++) await cell.update(increment('a'))
  place.cell = older
  t.strictSame(await cell.update(increment('b')), { a: 1, b: 1 })
  t.equal(place.cell.version, 2)

  place.cell = older
  t.ok(cell.take(older))
  t.equal(cell.version, 2, 'by itself an older version is only late')
  t.ok(cell.replace(older))
  t.strictSame([cell.version, cell.value], [1, { a: 1 }])
})

t.test('a change made during a write waits for it, and does not conflict with it', async t => {
  const place = new Place()
  const { cell, seen } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  const one = cell.update(increment('a'))
  await Promise.resolve()
  const others = [cell.update(increment('a')), cell.update(increment('b'))]
  t.strictSame(await one, { a: 1 })
  t.strictSame(await Promise.all(others), Array(2).fill({ a: 2, b: 1 }))
  t.equal(place.writes, 2)
  t.strictSame(seen, [{ a: 1 }, { a: 2, b: 1 }])
})

t.test('a value from elsewhere that arrives during a write is reported once, and is not undone by the answer', async t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const place = new Place()
  const conflicting = openCounts(place, cipher)
  place.cell = { value: cipher.seal({ a: 5 }), version: 1 }
  const update = conflicting.cell.update(increment('a'))
  await Promise.resolve()
  conflicting.cell.take(place.cell)
  t.strictSame(await update, { a: 6 })
  t.strictSame(conflicting.seen, [{ a: 5 }, { a: 6 }])

  const overtaken = openCounts(place, cipher)
  const late = overtaken.cell.update(increment('a'))
  await Promise.resolve()
  overtaken.cell.take({ value: cipher.seal({ a: 9 }), version: 4 })
  t.strictSame(await late, { a: 7 }, 'what was stored')
  t.strictSame([overtaken.cell.value, overtaken.cell.version, overtaken.seen], [{ a: 9 }, 4, [{ a: 9 }]])
})

t.test('a write whose answer was lost is not applied twice', async t => {
  const place = new Place()
  const { cell, clock } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  place.loses = 'answers'
  const update = cell.update(increment('a'))
  await turn()
  await turn()
  place.loses = 'nothing'
  clock.advance(500)
  t.strictSame(await update, { a: 1 })
  t.equal(place.cell.version, 1)
})

t.test('a lost write is retried as soon as the link returns', async t => {
  const place = new Place()
  const { cell, link } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  place.loses = 'requests'
  const update = cell.update(increment('a'))
  await turn()
  await turn()
  place.loses = 'nothing'
  link.up()
  t.strictSame(await update, { a: 1 })
})

t.test('a newer value from elsewhere is accepted and reported', t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const { cell, seen } = openCounts(new Place(), cipher)
  t.ok(cell.take({ value: cipher.seal({ a: 5 }), version: 3 }))
  t.ok(cell.take({ value: cipher.seal({ a: 4 }), version: 2 }))
  t.ok(cell.take({ value: cipher.seal({ a: 4 }), version: 3 }))
  t.strictSame([cell.value, cell.version, seen], [{ a: 5 }, 3, [{ a: 5 }]])
  t.notOk(cell.take({ value: 'AAAA', version: 4 }))
  t.notOk(cell.take({ value: cipher.seal('no counts'), version: 4 }))
  t.equal(cell.version, 3)
  t.end()
})

t.test('a change that changes nothing writes nothing', async t => {
  const place = new Place()
  const { cell } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  await cell.update(value => value)
  t.equal(place.writes, 0)
})

t.test('an unreadable value is never overwritten', async t => {
  const place = new Place()
  const { cell } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  place.cell = { value: dataKeyCipher(engine.randomBytes(32)).seal({ a: 1 }), version: 1 }
  await t.rejects(cell.update(increment('a')), UnreadableCell)
  t.equal(place.cell.version, 1)
  t.throws(() => openCounts(place, dataKeyCipher(engine.randomBytes(32))), UnreadableCell)
})

t.test('a throwing change fails alone, and the next one continues', async t => {
  const { cell } = openCounts(new Place(), dataKeyCipher(engine.randomBytes(32)))
  const broken = cell.update(() => {
    throw new Error('broken')
  })
  await t.rejects(broken, { message: 'broken' })
  t.strictSame(await cell.update(increment('a')), { a: 1 })
})

t.test('closing ends writes that wait for the connection', async t => {
  const place = new Place()
  const { cell } = openCounts(place, dataKeyCipher(engine.randomBytes(32)))
  place.loses = 'requests'
  const update = cell.update(increment('a'))
  await turn()
  await turn()
  cell.close()
  await t.rejects(update, { message: 'the cell was closed' })
})

t.test('on the real server, wrapper and app write state, metadata and settings over each other [X4]', async t => {
  const world = await startWorld(t)
  const { session, key } = await world.openSession()
  const wrapper = await world.client({ as: 'session', id: session.id })
  const app = await world.client()

  const anything = v.looseObject({})
  const open = (socket: typeof app.socket) =>
    openCell({
      cipher: key.cipher,
      schema: anything,
      cell: { value: session.metadata, version: session.metadataVersion },
      empty: {},
      write: writeSessionMetadata(socket, session.id)
    })
  const [mine, theirs] = [open(wrapper.socket), open(app.socket)]
  await mine.update(value => ({ ...value, summary: 'tests' }))
  t.strictSame(await theirs.update(value => ({ ...value, permissionMode: 'plan' })), {
    path: '/home',
    host: 'studio',
    summary: 'tests',
    permissionMode: 'plan'
  })

  const state = openCell({
    cipher: key.cipher,
    schema: agentState,
    cell: { value: session.agentState, version: session.agentStateVersion },
    empty: {},
    write: writeAgentState(wrapper.socket, session.id)
  })
  t.strictSame(await state.update(value => ({ ...value, controlledByUser: false })), { controlledByUser: false })

  const settings = openCell({
    cipher: world.vault.settings,
    schema: anything,
    cell: { value: null, version: 0 },
    empty: { schemaVersion: 2 },
    write: writeSettings(world.rest)
  })
  await settings.update(value => ({ ...value, theme: 'dark' }))
  const kept = await world.rest.call('readSettings', {})
  t.equal(kept.settingsVersion, 1)
  t.strictSame(world.vault.settings.open(kept.settings ?? ''), { ok: true, value: { schemaVersion: 2, theme: 'dark' } })
})

t.test('a cell of a missing row is rejected, not retried forever', async t => {
  const world = await startWorld(t)
  const { socket } = await world.client()
  await t.rejects(writeMachineMetadata(socket, 'nowhere')(0, 'aGk='), Refused)
})
