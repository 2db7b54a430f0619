import type { Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { type Person, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'

interface Cell {
  event: string
  id: 'sid' | 'machineId'
  field: 'metadata' | 'agentState' | 'daemonState'
  nullable: boolean
  /** What a new row has. */
  first: { version: number; value: string | null }
  update: 'update-session' | 'update-machine'
}

const cells: Cell[] = [
  {
    event: 'update-metadata',
    id: 'sid',
    field: 'metadata',
    nullable: false,
    first: { version: 0, value: 'bWV0YQ==' },
    update: 'update-session'
  },
  { event: 'update-state', id: 'sid', field: 'agentState', nullable: true, first: { version: 0, value: null }, update: 'update-session' },
  {
    event: 'machine-update-metadata',
    id: 'machineId',
    field: 'metadata',
    nullable: false,
    first: { version: 1, value: 'x' },
    update: 'update-machine'
  },
  {
    event: 'machine-update-state',
    id: 'machineId',
    field: 'daemonState',
    nullable: true,
    first: { version: 0, value: null },
    update: 'update-machine'
  }
]

async function rowOf(person: Person, { id }: Cell): Promise<string> {
  if (id === 'sid') return person.openSession()
  await person.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  return 'laptop'
}

async function start(t: Test, cell: Cell) {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const row = await rowOf(ada, cell)
  const write = (socket: Socket, value: unknown, expectedVersion: unknown, at = row) =>
    socket.emitWithAck(cell.event, { [cell.id]: at, [cell.field]: value, expectedVersion })
  return { server, ada, row, write }
}

for (const cell of cells) {
  const { event, field, first } = cell

  t.test(`${event} replaces the expected version and notifies everyone who may see it, including its sender [X4]`, async t => {
    const { ada, row, write } = await start(t, cell)
    const scope = cell.id === 'sid' ? { clientType: 'session-scoped', sessionId: row } : { clientType: 'machine-scoped', machineId: row }
    const socket = await ada.connect(scope)
    const own = listen(socket)
    const app = listen(await ada.connect())
    const elsewhere = listen(await ada.connect({ clientType: 'session-scoped', sessionId: 'another' }))

    t.same(await write(socket, 'new', first.version), { result: 'success', version: first.version + 1, [field]: 'new' })
    const told = {
      t: cell.update,
      [cell.id === 'sid' ? 'id' : 'machineId']: row,
      [field]: { value: 'new', version: first.version + 1 }
    }
    for (const heard of [own, app]) {
      await heard.settled()
      t.same(heard.bodies(cell.update), [told])
    }
    await elsewhere.settled()
    t.same(elsewhere.updates, [])
  })

  t.test(`${event} with a stale version returns the current value, and no one is notified [X4]`, async t => {
    const { ada, write } = await start(t, cell)
    const socket = await ada.connect()
    const heard = listen(socket)
    const mismatch = { result: 'version-mismatch', version: first.version, [field]: first.value }
    t.same(await write(socket, 'new', first.version + 1), mismatch)
    t.same(await write(socket, 'new', first.version + 5), mismatch)
    await heard.settled()
    t.same(heard.updates, [])
  })

  t.test(`${event} of a missing row and of a foreign one get the same error [I1]`, async t => {
    const { server, ada, write } = await start(t, cell)
    const mallory = await signUp(t, server)
    const socket = await mallory.connect()
    const error = { result: 'error', message: 'Not found' }
    t.same(await write(socket, 'stolen', first.version), error)
    t.same(await write(socket, 'stolen', first.version, 'unknown'), error)
    t.match(await write(await ada.connect(), 'mine', first.version), { result: 'success' })
  })

  t.test(`invalid ${event} is answered with an error`, async t => {
    const { ada, write } = await start(t, cell)
    const socket = await ada.connect()
    const refused: [unknown, unknown][] = [
      [7, first.version],
      [undefined, first.version],
      [{}, first.version],
      ['x', -1],
      ['x', '0'],
      ['x', undefined],
      ['x', Number.NaN]
    ]
    for (const [value, version] of refused) t.match(await write(socket, value, version), { result: 'error' }, `${value} ${version}`)
    for (const payload of [undefined, null, 7, 'text', [], {}]) t.match(await socket.emitWithAck(event, payload), { result: 'error' })
    const outcome = await write(socket, null, first.version)
    t.match(outcome, { result: cell.nullable ? 'success' : 'error' }, 'null')
  })

  t.test(`${event}: of many writers with one version one wins, and versions are announced in order [X4]`, async t => {
    const { ada, write } = await start(t, cell)
    const heard = listen(await ada.connect())
    const writers = await Promise.all(Array.from({ length: 5 }, () => ada.connect()))
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.all(writers.map((socket, at) => write(socket, `${round}.${at}`, first.version + round)))
      const won = outcomes.filter(({ result }) => result === 'success')
      t.equal(won.length, 1)
      for (const outcome of outcomes) {
        if (outcome.result !== 'success') t.same(outcome, { ...won[0], result: 'version-mismatch' })
      }
    }
    await heard.settled()
    const versions = heard.bodies(cell.update).map(body => body[field].version)
    t.same(
      versions,
      Array.from({ length: 5 }, (_, index) => first.version + 1 + index)
    )
  })

  t.test(`${event} without an acknowledgement is accepted too`, async t => {
    const { ada, row } = await start(t, cell)
    const socket = await ada.connect()
    const heard = listen(socket)
    socket.emit(event, { [cell.id]: row, [field]: 'new', expectedVersion: first.version })
    socket.emit(event, 'nonsense')
    await heard.settled()
    t.equal(heard.bodies(cell.update).length, 1)
  })
}

t.test('a connection that opted out does not get its own writes back; the others do [S3]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const quiet = await ada.connect({ clientType: 'session-scoped', sessionId: session, echo: false })
  const own = listen(quiet)
  const twin = listen(await ada.connect({ clientType: 'session-scoped', sessionId: session, echo: false }))
  await quiet.emitWithAck('update-metadata', { sid: session, metadata: 'new', expectedVersion: 0 })
  await own.settled()
  t.same(own.updates, [])
  await twin.settled()
  t.equal(twin.updates.length, 1)
})
