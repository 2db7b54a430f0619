import t from 'tap'
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
