import t from 'tap'
import { cryptoReady, Unreachable } from '../../../../lib/client/index.ts'
import { type Device, decidedOn, listDevices, renameDevice, unlinkDevice } from '../../../../web/model/account/devices.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { askMachine, type MachineLink, notConnected } from '../../../../web/model/account/machine-call.ts'
import type { MachineView } from '../../../../web/model/store.ts'
import { machine } from '../../kit/machine.ts'

t.before(() => cryptoReady())

const device = (id: string, lastUsedAt: number, current = false) => ({ id, lastUsedAt, current }) as unknown as Device

function server(devices: readonly Device[]) {
  const asked: unknown[] = []
  const call = async (name: string, options: object) => {
    asked.push([name, options])
    return { devices }
  }
  return { live: { rest: { call } } as unknown as Pick<Live, 'rest'>, asked }
}

t.test('this device is listed first, then the one used last', async t => {
  const { live } = server([device('old', 1), device('here', 2, true), device('new', 9), device('middle', 5)])
  t.same(
    (await listDevices(live)).map(({ id }) => id),
    ['here', 'new', 'middle', 'old']
  )
})

t.test('a device is renamed and unlinked by its id', async t => {
  const { live, asked } = server([])
  await renameDevice(live, device('d1', 1), 'Tablet')
  await unlinkDevice(live, device('d2', 1))
  t.same(asked, [
    ['renameDevice', { params: { id: 'd1' }, body: { name: 'Tablet' } }],
    ['removeDevice', { params: { id: 'd2' } }]
  ])
})

t.test('each machine tells what a device decided; one that is away, or records nothing, says so', async t => {
  const entry = { at: 1, folder: '/work', on: 'command', tool: 'Bash', what: 'npm test', level: 'plain', answer: 'allowed' }
  const { link, asked } = machine<MachineLink>({ 'm1:decisions': { entries: [entry] }, 'm2:decisions': new Unreachable('network') })
  const of = (id: string, methods?: string[]) => ({ id, metadata: methods && { methods } }) as unknown as MachineView
  const machines = [of('m1', ['rules', 'decisions']), of('m2', ['decisions']), of('m3', ['rules']), of('m4', []), of('m5')]
  t.match(await decidedOn(link, machines, 'd1'), [
    { machine: 'm1', entries: [{ what: 'npm test', answer: 'allowed' }] },
    { machine: 'm2', entries: 'away' },
    { machine: 'm3', entries: 'unsupported' },
    { machine: 'm4', entries: 'unsupported' },
    { machine: 'm5', entries: 'unsupported' }
  ])
  t.same(asked, [['m1:decisions', { device: 'd1' }]], 'and only those that can are asked')
})

t.test('a machine is not called without a link, nor without its key, and why it failed is a result', async t => {
  const ask = (link: MachineLink | undefined) => askMachine(link, 'm1', 'decisions', { device: 'd1' })
  t.same(await ask(undefined), { type: 'failed', why: 'not-connected', says: '' })
  t.same(await ask(undefined), notConnected)
  const answering = (said: unknown) => machine<MachineLink>({ decisions: said })
  const known = answering({ entries: [] })
  t.same(await ask(known.link), { type: 'answered', result: { entries: [] } })
  known.state.hasKey = false
  t.same(await ask(known.link), { type: 'failed', why: 'unreadable', says: '' })
  t.equal(known.asked.length, 1)
  t.same(await ask(answering({ error: 'no room' }).link), { type: 'failed', why: 'failed', says: 'no room' })
  t.match(await ask(answering(new Unreachable('network')).link), { type: 'failed', why: 'no-answer' })
  t.same(await ask(answering(new TypeError('broken')).link), { type: 'failed', why: 'unreadable', says: 'TypeError: broken' })
})
