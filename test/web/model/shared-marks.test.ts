import t from 'tap'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'

// There are no other tabs; an open channel would keep the test from ending.
Object.assign(globalThis, { BroadcastChannel: undefined })
const { markSeen } = await import('../../../web/model/home.ts')
const { shareReadMarks } = await import('../../../web/model/shared-marks.ts')
await cryptoReady()

/** A device that is put in the background right after it has read the stored marks. `read`: the marks of the other devices. */
async function putAway(read: Record<string, number>, feed: 'live' | 'catching-up') {
  const vault = accountVault(engine.randomBytes(32))
  let cell = { key: 'afield.read', value: vault.settings.seal({ read }), version: 0 }
  let hide = () => {}
  const page = { visibilityState: 'hidden', addEventListener: (_: string, hidden: () => void) => (hide = hidden), removeEventListener() {} }
  Object.assign(globalThis, { document: page })
  const rest = {
    async call(name: string, { body }: { body: { mutations: [typeof cell] } }) {
      if (name === 'mutateKv') cell = { ...body.mutations[0], version: cell.version + 1 }
      return name === 'mutateKv' ? { results: [cell] } : { values: [cell] }
    }
  }
  const socket = { state: { type: 'live' }, onState: () => () => {}, onUpdate: () => () => {} }
  const shared = shareReadMarks({ rest, socket, vault, feed: { state: { type: feed } } } as unknown as Parameters<typeof shareReadMarks>[0])
  const settle = () => new Promise(resolve => setImmediate(resolve))
  await settle()
  hide()
  await settle()
  shared.close()
  return vault.settings.open(cell.value)
}

t.test('marks made before the server was reached are sent, and remove nothing that is not yet listed', async t => {
  markSeen('here', 3)
  t.same(await putAway({ elsewhere: 5 }, 'catching-up'), { ok: true, value: { read: { elsewhere: 5, here: 3 } } })
})

t.test('marks of a removed session are dropped', async t => {
  markSeen('gone', 3)
  t.same(await putAway({ elsewhere: 5 }, 'live'), { ok: true, value: { read: { elsewhere: 5 } } })
})
