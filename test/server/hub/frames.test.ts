import t from 'tap'
import type { BusEvent, Change, Signal } from '../../../lib/bus/bus.ts'
import { ephemeral } from '../../../lib/protocol/wire/ephemerals.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import { update } from '../../../lib/protocol/wire/updates.ts'
import * as v from '../../../lib/schema.ts'
import {
  eventFrame,
  type Frame,
  isAfieldOnly,
  LargeFrame,
  largeFrom,
  packetFrame,
  pieceBytes,
  signalFrame,
  updateFrames
} from '../../../lib/server/hub/frames.ts'
import type { MachineRow, SessionRow } from '../../../lib/store/rows.ts'
import type { Untyped } from '../../kit/person.ts'
import { account } from '../ear.ts'

const session = v.parse(ids.sessionId, 's')
const machine = v.parse(ids.machineId, 'm')
const artifact = v.parse(ids.artifactId, 'a')
const device = v.parse(ids.deviceId, 'd')
const sealed = (text: string) => v.parse(ids.sealed, text)
const cell = (version: number) => ({ version, value: sealed(`version ${version}`) })
const empty = { version: 0, value: null }

const sessionRow: SessionRow = {
  ...{ id: session, metadata: cell(1), agentState: empty, dataKey: sealed('key'), lastSeq: 4, deliveredSeq: 3, readSeq: 2 },
  ...{ active: true, activeAt: 30, createdAt: 10, updatedAt: 20 }
}
const machineRow: MachineRow = {
  ...{ id: machine, metadata: cell(1), daemonState: cell(2), dataKey: null },
  ...{ active: false, activeAt: 30, createdAt: 10, updatedAt: 20 }
}
const sessionRecord = {
  ...{ id: 's', seq: 4, deliveredSeq: 3, readSeq: 2, metadata: 'version 1', metadataVersion: 1, agentState: null, agentStateVersion: 0 },
  ...{ dataEncryptionKey: 'key', active: true, activeAt: 30, createdAt: 10, updatedAt: 20 }
}
const machineRecord = {
  ...{ metadata: 'version 1', metadataVersion: 1, daemonState: 'version 2', daemonStateVersion: 2, dataEncryptionKey: null },
  ...{ active: false, activeAt: 30, createdAt: 10, updatedAt: 20 }
}

const textOf = (frame: Frame) => (typeof frame === 'string' ? frame : frame.bytes.toString())

/** The name and body of an event, as a client reads them. */
function read(frame: Frame): { name: string; body: Untyped } {
  const text = textOf(frame)
  t.equal(text.slice(0, 2), '42', 'an event of Socket.IO')
  const [name, body, ...rest] = JSON.parse(text.slice(2))
  t.same(rest, [])
  return { name, body }
}

/** What apps and the row's own process get of a change. */
function updatesOf(change: Change, clock = 7) {
  const event: Extract<BusEvent, { type: 'change' }> = { type: 'change', clock, at: 5, audience: 'apps', change }
  let count = 0
  return updateFrames(event, account, () => `id ${++count}`).map(({ frame, ...to }) => {
    const { name, body } = read(frame)
    t.equal(name, 'update')
    t.ok(v.safeParse(update, body).success, 'it is an update of the protocol')
    t.equal(body.createdAt, 5)
    return { ...to, id: body.id, seq: body.seq, body: body.body }
  })
}

t.test('each kind of change is an update of its own for those who may see it', async t => {
  const everybody = { appsOnly: false, isAfieldOnly: false }
  const apps = { appsOnly: true, isAfieldOnly: false }
  const cases: [change: Change, to: typeof apps, body: unknown][] = [
    [{ type: 'session-opened', session: sessionRow }, apps, { t: 'new-session', ...sessionRecord }],
    [{ type: 'row-removed', row: { of: 'session', id: session } }, apps, { t: 'delete-session', sid: 's' }],
    [{ type: 'row-removed', row: { of: 'session', id: session }, by: null }, apps, { t: 'delete-session', sid: 's' }],
    [{ type: 'row-removed', row: { of: 'session', id: session }, by: device }, apps, { t: 'delete-session', sid: 's', by: 'd' }],
    [{ type: 'row-removed', row: { of: 'machine', id: machine } }, apps, { t: 'delete-machine', machineId: 'm' }],
    [{ type: 'row-removed', row: { of: 'artifact', id: artifact } }, apps, { t: 'delete-artifact', artifactId: 'a' }],
    [
      { type: 'receipts-marked', session, deliveredSeq: 3, readSeq: 2 },
      { appsOnly: false, isAfieldOnly: true },
      { t: 'session-receipts', sid: 's', deliveredSeq: 3, readSeq: 2 }
    ],
    [
      {
        type: 'artifact-opened',
        artifact: { id: artifact, header: cell(1), body: cell(2), dataKey: sealed('key'), seq: 3, createdAt: 10, updatedAt: 20 }
      },
      apps,
      {
        ...{ t: 'new-artifact', artifactId: 'a', header: 'version 1', headerVersion: 1, body: 'version 2', bodyVersion: 2 },
        ...{ dataEncryptionKey: 'key', seq: 3, createdAt: 10, updatedAt: 20 }
      }
    ],
    [
      { type: 'artifact-written', id: artifact, header: cell(2) },
      apps,
      { t: 'update-artifact', artifactId: 'a', header: { value: 'version 2', version: 2 } }
    ],
    [
      { type: 'artifact-written', id: artifact, body: cell(3) },
      apps,
      { t: 'update-artifact', artifactId: 'a', body: { value: 'version 3', version: 3 } }
    ],
    [
      { type: 'kv-written', changes: [{ key: v.parse(ids.kvKey, 'k'), value: null, version: 4 }] },
      apps,
      { t: 'kv-batch-update', changes: [{ key: 'k', value: null, version: 4 }] }
    ],
    [
      { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: empty },
      everybody,
      { t: 'update-account', id: 'ada', settings: { value: null, version: 0 } }
    ],
    [
      { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell(2) },
      everybody,
      { t: 'update-session', id: 's', metadata: { value: 'version 2', version: 2 } }
    ],
    [
      { type: 'cell-written', cell: { of: 'session', id: session, name: 'agentState' }, now: empty },
      everybody,
      { t: 'update-session', id: 's', agentState: { value: null, version: 0 } }
    ],
    [
      { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'metadata' }, now: cell(2) },
      everybody,
      { t: 'update-machine', machineId: 'm', metadata: { value: 'version 2', version: 2 } }
    ],
    [
      { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'daemonState' }, now: empty },
      everybody,
      { t: 'update-machine', machineId: 'm', daemonState: { value: null, version: 0 } }
    ]
  ]
  for (const [change, to, body] of cases) t.strictSame(updatesOf(change), [{ ...to, id: 'id 1', seq: 7, body }], JSON.stringify(change))
})

t.test('a change of several updates ends with its clock, each update with an id of its own', async t => {
  const message = (seq: number) => ({
    seq,
    localId: seq === 5 ? v.parse(ids.localId, 'mine') : null,
    sealed: sealed(`${seq}`),
    createdAt: seq
  })
  const record = (seq: number, localId: string | null) => ({
    t: 'new-message',
    sid: 's',
    message: { id: `s-${seq}`, seq, localId, createdAt: seq, updatedAt: seq, content: { t: 'encrypted', c: `${seq}` } }
  })
  const everybody = { appsOnly: false, isAfieldOnly: false }
  t.strictSame(updatesOf({ type: 'messages-added', session, messages: [4, 5, 6].map(message) }, 30), [
    { ...everybody, id: 'id 1', seq: 28, body: record(4, null) },
    { ...everybody, id: 'id 2', seq: 29, body: record(5, 'mine') },
    { ...everybody, id: 'id 3', seq: 30, body: record(6, null) }
  ])
  t.strictSame(updatesOf({ type: 'machine-opened', machine: machineRow }, 30), [
    { appsOnly: true, isAfieldOnly: false, id: 'id 1', seq: 29, body: { t: 'new-machine', machineId: 'm', seq: 0, ...machineRecord } },
    { ...everybody, id: 'id 2', seq: 30, body: { t: 'update-machine', machineId: 'm', metadata: { value: 'version 1', version: 1 } } }
  ])
})

t.test('each kind of signal is an event that clients know, and only the old ones go to existing clients', async t => {
  const cases: [signal: Signal, isOurs: boolean, body: unknown][] = [
    [
      { type: 'presence', row: { of: 'session', id: session }, active: true, at: 5, thinking: true },
      false,
      { type: 'activity', id: 's', active: true, activeAt: 5, thinking: true }
    ],
    [
      { type: 'presence', row: { of: 'machine', id: machine }, active: false, at: 5, thinking: false },
      false,
      { type: 'machine-activity', id: 'm', active: false, activeAt: 5 }
    ],
    [
      { type: 'usage', session, key: 'k', at: 5, tokens: { total: 1 }, cost: { total: 2 } },
      false,
      { type: 'usage', id: 's', key: 'k', timestamp: 5, tokens: { total: 1 }, cost: { total: 2 } }
    ],
    ...(['done', 'error'] as const).map((kind): [Signal, boolean, unknown] => [
      { type: 'session-event', session, kind, title: 'a title', body: 'a body', at: 5 },
      kind === 'error',
      { type: 'session-event', sessionId: 's', kind, title: 'a title', body: 'a body', timestamp: 5 }
    ]),
    [
      { type: 'notice', session, notice: 'n', kind: 'permission', at: 5 },
      true,
      { type: 'notice', sessionId: 's', noticeId: 'n', kind: 'permission', timestamp: 5 }
    ],
    [{ type: 'partial', session, partial: sealed('grows') }, true, { type: 'partial', sid: 's', partial: 'grows' }],
    [
      { type: 'device-came', device, kind: 'terminal', name: 'laptop', at: 5 },
      true,
      { type: 'device-came', id: 'd', kind: 'terminal', name: 'laptop', timestamp: 5 }
    ],
    [{ type: 'pairing-fetched-twice', at: 5 }, true, { type: 'pairing-fetched-twice', timestamp: 5 }]
  ]
  for (const [signal, isOurs, body] of cases) {
    const frame = read(signalFrame(signal))
    t.strictSame(frame, { name: 'ephemeral', body }, signal.type)
    t.ok(v.safeParse(ephemeral, frame.body).success, 'it is a signal of the protocol')
    t.equal(isAfieldOnly(signal), isOurs, signal.type)
  }
})

t.test('a frame of at most one piece is text, and a larger one is in memory once for all that it is sent to', async t => {
  const text = 'x'.repeat(pieceBytes)
  t.equal(largeFrom(text), text)
  const large = largeFrom(`${text}ü`)
  if (!(large instanceof LargeFrame)) throw new Error('It is text.')
  t.equal(large.length, pieceBytes + 2, 'in bytes')
  t.equal(large.waitingFor, 0)
  t.equal(large.bytes.toString(), `${text}ü`)
  t.equal(large.bytes, large.bytes, 'encoded once')
  large.sent()
  t.equal(large.bytes.length, pieceBytes + 2, 'another connection may still send it')
  t.ok(signalFrame({ type: 'partial', session, partial: sealed(text) }) instanceof LargeFrame)
  const added: Change = { type: 'messages-added', session, messages: [{ seq: 1, localId: null, sealed: sealed(text), createdAt: 1 }] }
  const [only] = updateFrames({ type: 'change', clock: 1, at: 1, audience: 'apps', change: added }, account, () => 'id')
  t.ok(only?.frame instanceof LargeFrame)
})

t.test('the memory of a large frame for one connection is freed as soon as it was sent', async t => {
  const text = 'x'.repeat(pieceBytes + 1)
  for (const frame of [largeFrom(text, { isForOne: true }), packetFrame('431', [{ ok: true, value: text }]), packetFrame('431', [text])]) {
    if (!(frame instanceof LargeFrame)) throw new Error('It is text.')
    t.ok(frame.bytes.length > pieceBytes)
    frame.sent()
    t.equal(frame.bytes.length, 0)
  }
})

t.test('a packet is its arguments as JSON, whatever is in them', async t => {
  const long = 'x'.repeat(pieceBytes + 1)
  const table: unknown[][] = [
    [],
    ['short'],
    [{}],
    [null],
    [[long]],
    [{ value: 'short' }],
    [{ value: 'x'.repeat(pieceBytes) }],
    [{ value: long }],
    ['call', { method: 'm', params: long }],
    [{ value: long, ok: true }],
    [{ value: long }, 'after it'],
    [{ long, number: 5 }],
    // Each end of what needs no escapes, and what does.
    ...[' ', '!', '#', '[', ']', '~'].map(char => [{ value: long + char }]),
    ...['"', '\\', '\n', '\u001f', '\u007f', 'ü', '😀', '\u2028', '\ud800'].map(char => [{ value: long + char }]),
    [{ 'an "odd" key': long }],
    [{ umlaut: 'ü', value: long }]
  ]
  for (const args of table) {
    const frame = packetFrame('4317', args)
    const expected = `4317${JSON.stringify(args)}`
    t.ok(textOf(frame) === expected, encodeURI(expected.slice(-12).toWellFormed()))
    t.equal(frame instanceof LargeFrame, expected.length > pieceBytes)
    if (frame instanceof LargeFrame) t.equal(frame.length, Buffer.byteLength(expected))
  }
})

t.test('a long text that needs no escapes is copied into its packet, which is much faster', async t => {
  // What was copied is bytes from the start, and so freed before anybody reads it.
  const isCopied = (args: unknown[]) => {
    const frame = packetFrame('43', args)
    if (frame instanceof LargeFrame) frame.sent()
    return textOf(frame) === ''
  }
  const long = 'x'.repeat(pieceBytes + 1)
  t.ok(isCopied([{ ok: true, value: long }]))
  t.ok(isCopied(['call', { method: 'm', params: `${long} !#[]~` }]))
})

t.test('an event is its name and body', async t => {
  t.equal(eventFrame('update', { a: 1 }), '42["update",{"a":1}]')
})
