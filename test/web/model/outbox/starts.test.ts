import { signal } from '@preact/signals'
import t from 'tap'
import { openQueue } from '../../../../web/model/outbox/durable-queue.ts'
import { newStart, startAgain, startSaying, starts, type WaitingStart } from '../../../../web/model/outbox/starts.ts'
import type { Started } from '../../../../web/model/start-and-stop.ts'
import type { MachineView } from '../../../../web/model/store.ts'
import { memoryDb, until } from '../../kit/device.ts'

const asked = { agent: 'claude', folder: '/home/mira/orchard', mode: 'default', mayMakeFolder: false }
const given = { machine: 'm1', agent: 'Claude Code', asked, text: 'Prune the pears' }

function device() {
  const db = memoryDb()
  const machines = signal<ReadonlyMap<string, MachineView>>(new Map())
  const isLinked = signal(true)
  const begun: string[] = []
  const said: string[] = []
  let outcome: Started | Promise<Started> = { type: 'started', id: 's1' }
  return {
    begun,
    said,
    isLinked,
    willBe: (next: Started | Promise<Started>) => {
      outcome = next
    },
    hear(isHere: boolean) {
      machines.value = new Map([['m1', { id: 'm1', isActive: isHere, activeAt: 1, daemonState: { status: 'running' } } as MachineView]])
    },
    openApp() {
      const start = starts({
        link: {} as never,
        machines,
        async begin(_link, machine, { mayMakeFolder }) {
          begun.push(`${machine}${mayMakeFolder ? ', makes the folder' : ''}`)
          return outcome
        },
        async say(_link, session, text) {
          said.push(`${session}: ${text}`)
        }
      })
      return openQueue<WaitingStart>({ kinds: { start }, isLinked, db: async () => db })
    }
  }
}

t.test('a session requested while its machine is away starts once it is back, also after the app was closed [U4]', async t => {
  const { openApp, hear, begun, said } = device()
  hear(false)
  const before = openApp()
  await before.put(newStart(given))
  before.close()
  const after = openApp()
  await until(after.all, all => all.length === 1)
  t.strictSame(begun, [], 'it waits')
  hear(true)
  await until(after.all, all => all.length === 0)
  t.strictSame([begun, said], [['m1'], ['s1: Prune the pears']])
  after.close()
  const later = openApp()
  await later.isRead
  t.strictSame(later.all.value, [], 'it begins once')
})

t.test('the first message of a waiting one can be edited, also for the next app start', async t => {
  const { openApp, hear, said } = device()
  hear(false)
  const before = openApp()
  await before.put(newStart(given))
  await before.change('start', before.all.value[0]?.key ?? '', startSaying('Prune the quinces'))
  t.match(before.all.value, [{ text: 'Prune the quinces' }])
  before.close()
  const after = openApp()
  await until(after.all, all => all.length === 1)
  hear(true)
  await until(after.all, all => all.length === 0)
  t.strictSame(said, ['s1: Prune the quinces'])
  after.close()
})

t.test('a start asks its machine for what was chosen, and says its first message in the session that began', async t => {
  const done: unknown[][] = []
  let outcome: Started = { type: 'started', id: 's1' }
  const link = {} as never
  const start = starts({
    link,
    machines: signal(new Map()),
    async begin(...of) {
      done.push(['begin', ...of])
      return outcome
    },
    async say(...of) {
      done.push(['say', ...of])
    }
  })
  const waiting = newStart(given)
  t.match(waiting, { ...given, kind: 'start', key: String, state: { type: 'queued' } })
  t.not(waiting.key, newStart(given).key)
  t.ok(Math.abs(waiting.at - Date.now()) < 60_000)
  t.equal(await start.send(waiting), undefined)
  t.same(done.splice(0), [
    ['begin', link, 'm1', asked],
    ['say', link, 's1', 'Prune the pears', asked]
  ])
  outcome = { type: 'wants-folder', folder: '/x' }
  t.same(await start.send(waiting), { type: 'wants-folder' })
  outcome = { type: 'failed', why: 'failed', says: 'No room' }
  t.same(await start.send(waiting), outcome)
  t.same(
    done.map(([what]) => what),
    ['begin', 'begin'],
    'nothing is said where nothing began'
  )
})

t.test('a start waits for a machine that is not known, and is edited only while it waits', async t => {
  const kind = starts({
    link: {} as never,
    machines: signal(new Map()),
    begin: async () => ({ type: 'started', id: 's1' }),
    say: async () => {}
  })
  const waiting = newStart(given)
  t.equal(kind.mayLeave(waiting), Number.POSITIVE_INFINITY)
  t.match(startSaying('Rake')(waiting), { text: 'Rake', state: { type: 'queued' } })
  const sending: WaitingStart = { ...waiting, state: { type: 'sending' } }
  t.equal(startSaying('Rake')(sending), sending)
  t.match(startAgain()({ ...waiting, asked: { ...asked, mayMakeFolder: true } }), {
    asked: { mayMakeFolder: false },
    state: { type: 'queued' }
  })
  t.match(kind.asLeft?.(sending), { ...waiting, state: { type: 'failed', why: 'no-answer', says: '' } })
})

t.test('a withdrawn one never starts, and of two tabs one starts it [U4]', async t => {
  const { openApp, hear, begun } = device()
  const one = openApp()
  await one.put(newStart(given))
  const other = openApp()
  await until(other.all, all => all.length === 1)
  await one.withdraw(one.all.value[0]?.key ?? '')
  one.close()
  hear(true)
  await until(other.all, all => all.length === 0)
  t.strictSame(begun, [])

  hear(false)
  await other.put(newStart(given))
  const third = openApp()
  await until(third.all, all => all.length === 1)
  hear(true)
  await until(other.all, all => all.length === 0)
  await until(third.all, all => all.length === 0)
  t.strictSame(begun, ['m1'])
})

t.test('it keeps waiting for a machine that went away again, and asks before it creates a folder or retries [U4]', async t => {
  const { openApp, hear, begun, willBe } = device()
  const queue = openApp()
  const is = (type: string) => until(queue.all, all => all[0]?.state.type === type)
  hear(true)
  willBe({ type: 'failed', why: 'away', says: '' })
  await queue.put(newStart(given))
  await is('sending')
  await is('queued')
  willBe({ type: 'wants-folder', folder: asked.folder })
  hear(true)
  await is('wants-folder')
  willBe({ type: 'failed', why: 'failed', says: 'No room' })
  const key = queue.all.value[0]?.key ?? ''
  await queue.change('start', key, startAgain(true))
  await is('failed')
  hear(true)
  t.strictSame(begun, ['m1', 'm1', 'm1, makes the folder'], 'a failed start is not retried automatically')
})

t.test('when the app was closed during the request, it says that the result is unknown, and does not retry [U4]', async t => {
  const { openApp, hear, begun, willBe } = device()
  const before = openApp()
  willBe(new Promise(() => {}))
  hear(true)
  await before.put(newStart(given))
  await until(before.all, all => all[0]?.state.type === 'sending')
  before.close()
  const after = openApp()
  await until(after.all, all => all.length === 1)
  t.match(after.all.value, [{ state: { type: 'failed', why: 'no-answer' } }])
  hear(true)
  t.equal(begun.length, 1)
})
