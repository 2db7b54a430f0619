import t, { type Test } from 'tap'
import { Refused, type Rest } from '../../../lib/client/index.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { followReadMarks, type ReadMarksSources } from '../../../web/model/read-marks.ts'

await cryptoReady()

/** A server with one key, and devices that follow it. */
function account() {
  const { settings } = accountVault(engine.randomBytes(32))
  let cell: { key: string; value: string; version: number } | undefined
  const devices = new Set<(body: unknown) => void>()
  const writes: unknown[] = []
  const calls: string[] = []
  return {
    ...{ writes, calls },
    opened: () => settings.open(cell?.value ?? ''),
    remove() {
      cell = undefined
      for (const each of devices) each({ t: 'kv-batch-update', changes: [{ key: 'afield.read', value: null, version: 9 }] })
    },
    put(value: unknown, cipher = settings) {
      cell = { key: 'afield.read', value: cipher.seal(value), version: (cell?.version ?? -1) + 1 }
    },
    device({ knows = () => true }: { knows?(session: string): boolean } = {}) {
      const marks = new Map<string, number>()
      const later: (() => void)[] = []
      const states: (() => void)[] = []
      let hear: ((update: { body: unknown }) => void) | undefined
      const own = (body: unknown) => hear?.({ body })
      devices.add(own)
      const socket = {
        state: { type: 'live' },
        onState: (listener: () => void) => {
          states.push(listener)
          return () => {}
        },
        onUpdate: (listener: typeof hear) => {
          hear = listener
          return () => devices.delete(own)
        }
      }
      const rest = {
        async call(name: string, { body }: { body: { keys?: string[]; mutations: { key: string; value: string; version: number }[] } }) {
          calls.push(name)
          if (name === 'readKv') return { values: cell && body.keys?.includes(cell.key) ? [cell] : [] }
          const [wanted] = body.mutations
          if (!wanted || wanted.version !== (cell?.version ?? -1)) throw new Refused(409, 'version-mismatch')
          cell = { ...wanted, version: wanted.version + 1 }
          writes.push(settings.open(wanted.value))
          for (const each of devices) if (each !== own) each({ t: 'kv-batch-update', changes: [cell] })
          return { results: [cell] }
        }
      }
      const followed = followReadMarks({
        rest: rest as unknown as Pick<Rest, 'call'>,
        socket: socket as unknown as ReadMarksSources['socket'],
        cipher: settings,
        onMarks: told => {
          for (const [session, seq] of told) marks.set(session, seq)
        },
        isKnown: knows,
        after: (_, run) => {
          later.push(run)
          return () => void later.splice(later.indexOf(run), 1)
        }
      })
      const settle = () => new Promise<void>(resolve => setImmediate(resolve))
      return {
        ...{ marks, followed, later },
        hear: own,
        settle,
        async timePasses() {
          for (const run of later.splice(0)) run()
          await settle()
        },
        async goes(type: 'live' | 'down') {
          socket.state.type = type
          for (const listener of states) listener()
          await settle()
        }
      }
    }
  }
}

t.test('what is read on one device is marked read on another, with one update for all that was read together', async t => {
  const { device, writes } = account()
  const [phone, desk] = [device(), device()]
  await phone.settle()
  for (const seq of [1, 2, 3]) phone.followed.note('s1', seq)
  phone.followed.note('s2', 9)
  t.same(writes, [])
  await phone.timePasses()
  t.same(
    [...desk.marks],
    [
      ['s1', 3],
      ['s2', 9]
    ]
  )
  t.same(writes, [{ ok: true, value: { read: { s1: 3, s2: 9 } } }], 'sealed for the account')
  const late = device()
  await late.settle()
  t.same([...late.marks], [...desk.marks], 'also by one that was not there')
})

t.test('the largest number wins, whoever reports first', async t => {
  const { device, opened } = account()
  const [phone, desk] = [device(), device()]
  await phone.settle()
  phone.followed.note('s1', 5)
  desk.followed.note('s1', 3)
  desk.followed.note('s2', 2)
  await Promise.all([phone.timePasses(), desk.timePasses()])
  await desk.settle()
  t.same(opened(), { ok: true, value: { read: { s1: 5, s2: 2 } } })
  phone.followed.note('s1', 4)
  await phone.timePasses()
  t.same(opened(), { ok: true, value: { read: { s1: 5, s2: 2 } } })
})

t.test('messages read offline are reported when the link returns', async t => {
  const { device } = account()
  const [phone, desk] = [device(), device()]
  await phone.settle()
  await phone.goes('down')
  phone.followed.note('s1', 5)
  await phone.timePasses()
  t.same([...desk.marks], [])
  await phone.goes('live')
  t.same([...desk.marks], [['s1', 5]])
})

t.test('removed sessions are left out, and what this device cannot decrypt is unchanged', async t => {
  const { device, put, opened, writes } = account()
  put({ read: { gone: 7, s1: 1 } })
  const phone = device({ knows: session => session !== 'gone' })
  await phone.settle()
  phone.followed.note('s1', 2)
  phone.followed.note('gone', 8)
  await phone.timePasses()
  t.same(opened(), { ok: true, value: { read: { s1: 2 } } })
  t.equal(writes.length, 1)
  put({ read: { s1: 'of a later version' } })
  const desk = device()
  await desk.settle()
  desk.followed.note('s1', 9)
  await desk.timePasses()
  t.equal(writes.length, 1)
})

t.test('each batch is one request once the marks are known, and what was read before is not sent again', async t => {
  const { device, calls, writes } = account()
  const phone = device()
  await phone.settle()
  t.same(calls.splice(0), ['readKv'])
  phone.followed.note('s1', 5)
  phone.followed.note('s1', 6)
  t.equal(phone.later.length, 1)
  await phone.timePasses()
  t.same(calls.splice(0), ['mutateKv'])
  for (const seq of [5, 6]) phone.followed.note('s1', seq)
  t.equal(phone.later.length, 0, 'it is known there')
  phone.followed.flush()
  await phone.settle()
  t.same(calls, [])
  phone.followed.note('s1', 7)
  phone.followed.flush()
  await phone.settle()
  t.same([calls, phone.later.length, writes.length], [['mutateKv'], 0, 2], 'sent now, and not again later')
})

t.test('marks that were removed on the server are stored again with the next one', async t => {
  const { device, opened, remove, put } = account()
  const phone = device()
  await phone.settle()
  phone.followed.note('s1', 5)
  await phone.timePasses()
  remove()
  put({ read: { s2: 1 } })
  await phone.goes('live')
  t.same([...phone.marks], [['s2', 1]])
  t.match(opened(), { ok: true, value: { read: { s1: 5, s2: 1 } } })
})

t.test('a change of another kind, or of another key, is not one of the marks', async t => {
  const { device } = account()
  const phone = device()
  await phone.settle()
  phone.hear({ t: 'new-message' })
  phone.hear({ t: 'kv-batch-update', changes: [{ key: 'other', value: 'x', version: 1 }] })
  t.same([...phone.marks], [])
})

t.test('one that was closed sends and hears nothing more', async t => {
  const { device, calls } = account()
  const [phone, desk] = [device(), device()]
  await phone.settle()
  desk.followed.note('s1', 5)
  phone.followed.note('s2', 5)
  phone.followed.close()
  t.equal(phone.later.length, 0)
  calls.length = 0
  phone.followed.flush()
  await desk.timePasses()
  t.same(calls, ['mutateKv'])
  t.same([...phone.marks], [])
})

t.test('a mark that another device was faster with is merged with its own', async t => {
  const { device, opened, put, calls } = account()
  const phone = device()
  await phone.settle()
  put({ read: { s2: 4, s1: 1 } })
  phone.followed.note('s1', 1)
  phone.followed.note('s3', 1)
  calls.length = 0
  await phone.timePasses()
  t.same(calls, ['mutateKv', 'readKv', 'mutateKv'])
  t.match(opened(), { ok: true, value: { read: { s1: 1, s2: 4, s3: 1 } } })
})

/** One device whose server answers as a test says. */
function lone(t: Test, { cell, isLive = true }: { cell?: { value: unknown; version: number } | undefined; isLive?: boolean } = {}) {
  const { settings } = accountVault(engine.randomBytes(32))
  const server = {
    cell: cell && { value: cell.value === null ? null : settings.seal(cell.value), version: cell.version },
    fails: [] as (Error | undefined)[],
    gate: undefined as Promise<void> | undefined,
    asked: [] as string[],
    /** Instead of the results of a write. */
    says: undefined as unknown
  }
  const signals: (AbortSignal | undefined)[] = []
  const heard: Record<string, number>[] = []
  const timers: { ms: number; run: () => void; isOff: boolean }[] = []
  const stops: string[] = []
  let hear: (update: { body: unknown }) => void = () => {}
  let change: () => void = () => {}
  const socket = {
    state: { type: isLive ? 'live' : 'down' },
    onState(listener: () => void) {
      change = listener
      return () => stops.push('state')
    },
    onUpdate(listener: typeof hear) {
      hear = listener
      return () => stops.push('update')
    }
  }
  type Body = { keys?: string[]; mutations?: { key: string; value: string; version: number }[] }
  const rest = {
    async call(_: string, { body }: { body: Body }, { signal }: { signal?: AbortSignal } = {}) {
      const [wanted] = body.mutations ?? []
      server.asked.push(wanted ? `write after ${wanted.version}` : `read ${body.keys?.join()}`)
      signals.push(signal)
      await server.gate
      const failure = server.fails.shift()
      if (failure) throw failure
      if (!wanted) return { values: server.cell ? [{ key: 'afield.read', ...server.cell }] : [] }
      server.cell = { value: wanted.value, version: wanted.version + 1 }
      return server.says ?? { results: [server.cell] }
    }
  }
  const followed = followReadMarks({
    rest: rest as unknown as Pick<Rest, 'call'>,
    socket: socket as unknown as ReadMarksSources['socket'],
    cipher: settings,
    onMarks: marks => heard.push(Object.fromEntries(marks)),
    isKnown: () => true,
    after(ms, run) {
      const timer = { ms, run, isOff: false }
      timers.push(timer)
      return () => {
        timer.isOff = true
      }
    }
  })
  t.teardown(() => followed.close())
  const settle = () => new Promise<void>(resolve => setImmediate(resolve))
  return {
    ...{ server, followed, heard, timers, stops, signals, settle },
    stored: () => (server.cell ? settings.open(server.cell.value ?? '') : undefined),
    hear: (key: string, version: number, value: unknown, t = 'kv-batch-update') =>
      hear({
        body: {
          t,
          changes: [
            { key: 'other', version: 99, value: null },
            { key, version, value: value === null ? null : settings.seal(value) }
          ]
        }
      }),
    put: (value: unknown, version: number) => {
      server.cell = { value: settings.seal(value), version }
    },
    reconnect: async () => {
      socket.state.type = 'live'
      change()
      await settle()
    }
  }
}

t.test('marks of other devices are passed on as they come, newer ones only', async t => {
  const { heard, hear, settle, server } = lone(t, { cell: { value: { read: { s1: 1 } }, version: 4 } })
  await settle()
  t.same(server.asked, ['read afield.read'])
  hear('afield.read', 5, { read: { s1: 2 } })
  hear('afield.read', 5, { read: { s1: 3 } })
  hear('afield.read', 4, { read: { s1: 4 } })
  hear('afield.other', 7, { read: { s1: 5 } })
  hear('afield.read', 8, { read: { s1: 6 } }, 'new-message')
  hear('afield.read', 6, null)
  t.same(heard, [{ s1: 1 }, { s1: 2 }, {}], 'removed ones are none')
})

t.test('a server restored to an older state counts from there', async t => {
  const { heard, server, reconnect, settle } = lone(t, { cell: { value: { read: { s1: 9 } }, version: 7 } })
  await settle()
  await reconnect()
  t.same(heard, [{ s1: 9 }], 'nothing has changed')
  const older = lone(t, { cell: { value: { read: { s1: 2 } }, version: 3 } })
  await older.settle()
  older.hear('afield.read', 5, { read: { s1: 4 } })
  older.put({ read: { s1: 2 } }, 3)
  await older.reconnect()
  t.same(older.heard, [{ s1: 2 }, { s1: 4 }, { s1: 2 }])
  server.cell = undefined
  await reconnect()
  t.equal(heard.length, 1)
})

t.test('marks wait three seconds for others, and at most one request is on its way', async t => {
  const { followed, timers, server, settle, stored } = lone(t)
  await settle()
  followed.note('s1', 0)
  t.equal(timers.length, 0, 'nothing was read yet')
  followed.note('s1', 1)
  followed.note('s1', 1)
  followed.note('s2', 1)
  t.same(
    timers.map(({ ms }) => ms),
    [3_000]
  )
  const gate = Promise.withResolvers<void>()
  server.gate = gate.promise
  followed.flush()
  t.equal(timers[0]?.isOff, true)
  followed.note('s1', 2)
  t.equal(timers.length, 2, 'the next ones wait anew')
  followed.flush()
  await settle()
  t.same(server.asked, ['read afield.read', 'write after -1'])
  gate.resolve()
  await settle()
  t.same(stored(), { ok: true, value: { read: { s1: 2, s2: 1 } } }, 'with what was read meanwhile')
  t.same(server.asked.slice(2), ['read afield.read', 'write after 0'])
  followed.flush()
  await settle()
  t.equal(server.asked.length, 4, 'nothing is left')
})

t.test('a mark that cannot be sent waits for the next one, and a conflict is merged a few times at most', async t => {
  const { followed, server, settle, stored } = lone(t, { cell: { value: { read: { s9: 9 } }, version: 0 } })
  await settle()
  const [conflict, broken] = [new Refused(409, 'version-mismatch'), new Refused(500, 'broken')]
  server.fails = [broken]
  followed.note('s1', 1)
  followed.flush()
  await settle()
  t.same(server.asked.slice(1), ['write after 0'])
  server.fails = [conflict]
  followed.flush()
  await settle()
  t.same(server.asked.slice(2), ['write after 0', 'read afield.read', 'write after 0'])
  t.same(stored(), { ok: true, value: { read: { s9: 9, s1: 1 } } })
  server.asked.length = 0
  server.fails = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? conflict : undefined))
  followed.note('s1', 2)
  followed.flush()
  for (let round = 0; round < 5; round++) await settle()
  t.equal(server.asked.filter(each => each.startsWith('write')).length, 5)
})

t.test('marks that another device has stored meanwhile are not written again', async t => {
  const { followed, server, settle, hear, put } = lone(t)
  await settle()
  followed.note('s1', 1)
  hear('afield.read', 0, { read: { s1: 2 } })
  followed.flush()
  await settle()
  t.equal(server.asked.length, 1, 'it heard of that')
  followed.note('s1', 3)
  put({ read: { s1: 3 } }, 4)
  server.fails = [new Refused(409, 'version-mismatch')]
  followed.flush()
  await settle()
  t.same(server.asked.slice(1), ['write after 0', 'read afield.read'])
  followed.note('s1', 5)
  put({ read: { s1: 4 } }, 6)
  server.fails = [new Refused(409, 'version-mismatch')]
  followed.flush()
  await settle()
  t.same(server.asked.slice(3), ['write after 4', 'read afield.read', 'write after 6'], 'what is newer is')
})

t.test('a write whose answer does not say its version is read back, and not repeated', async t => {
  const { followed, server, settle, heard } = lone(t)
  await settle()
  server.says = { results: [] }
  followed.note('s1', 1)
  followed.flush()
  await settle()
  t.same(server.asked.slice(1), ['write after -1', 'read afield.read'])
  t.same(heard, [{ s1: 1 }])
})

t.test('a device without a link sends nothing, and one that was closed neither', async t => {
  const { followed, server, settle, stops, signals, timers, reconnect } = lone(t, { isLive: false })
  followed.note('s1', 1)
  followed.flush()
  await settle()
  t.same(server.asked, [])
  await reconnect()
  t.same(server.asked, ['read afield.read', 'write after -1'])
  followed.note('s1', 2)
  followed.close()
  t.same([timers.at(-1)?.isOff, stops, signals[0]?.aborted, signals[1]?.aborted], [true, ['update', 'state'], true, true])
  followed.flush()
  await settle()
  t.equal(server.asked.length, 2)
})

t.test('a value that this device cannot read is not passed on', async t => {
  const { heard, hear, settle } = lone(t, { cell: { value: { read: { s1: 'later' } }, version: 2 } })
  await settle()
  hear('afield.read', 3, 'of a later version')
  t.same(heard, [])
  hear('afield.read', 4, { read: { s1: 1 } })
  t.same(heard, [{ s1: 1 }])
})
