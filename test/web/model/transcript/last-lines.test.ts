import 'fake-indexeddb/auto'
import t from 'tap'
import { cryptoReady, newEnvelope, newSessionMessage, newUserText, sealDraft } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import { home, updateHome } from '../../../../web/model/home.ts'
import { followLines } from '../../../../web/model/transcript/last-lines.ts'
import { until } from '../../kit/device.ts'

await cryptoReady()
const cipher = dataKeyCipher(engine.randomBytes(32))
const day = 24 * 3600_000

function recordOf(seq: number, body: Parameters<typeof sealDraft>[2]) {
  const { content, localId } = sealDraft(cipher, 's', body)
  return { id: `m${seq}`, seq, localId, createdAt: seq, updatedAt: seq, content: { t: 'encrypted', c: content } }
}

t.test('what was said while this device was away is fetched after each listing, of sessions that changed lately', async t => {
  const ended = newSessionMessage(newEnvelope({ t: 'turn-start' }, { role: 'agent', turn: 't' }))
  const kept = new Map([
    ['changed', [recordOf(1, newUserText('Plant it')), recordOf(2, newUserText('Water it')), recordOf(3, ended)]],
    ['idle', [recordOf(1, newUserText('Long ago'))]]
  ])
  const asked: unknown[] = []
  const call = async (_: string, { params, query }: { params: { id: string }; query: unknown }) => {
    asked.push([params.id, query])
    return { messages: kept.get(params.id) ?? [] }
  }
  const sessions = new Map([...kept.keys()].map(id => [id, { id }]))
  // Only the members that this uses.
  const deps = { rest: { call }, socket: { onUpdate: () => () => {} }, feed: { sessions, state: { type: 'live' } } } as never
  const lines = followLines(Object.assign(Object.create(null), deps, { cipherOf: () => cipher, onStored: () => () => {} }))
  t.teardown(() => lines.close())
  const session = (id: string, seq: number, updatedAt: number) => {
    const unknown = { dataEncryptionKey: null, metadata: undefined, agentState: undefined }
    updateHome({
      type: 'session',
      session: { id, seq, updatedAt, isActive: true, activeAt: 0, isThinking: false, createdAt: 0, ...unknown }
    })
  }
  const listed = (at: number) => updateHome({ type: 'listed', sessions: new Set(kept.keys()), machines: new Set(), at, isWhole: true })

  session('changed', 3, Date.now() - day)
  session('idle', 1, Date.now() - 8 * day)
  t.same(asked, [], 'before the server has sent everything')
  listed(1)
  await until(home, ({ sessions }) => sessions.get('changed')?.last !== undefined)
  t.match(home.peek().sessions.get('changed')?.last, { text: 'You: Water it', seq: 3 })
  t.same(asked, [['changed', { before_seq: 4, limit: 12 }]])

  listed(2)
  session('changed', 4, Date.now())
  kept.get('changed')?.push(recordOf(4, newUserText('Prune it')))
  t.equal(asked.length, 1, 'a line that is known is not fetched, nor one that changes while the device is here')
  listed(3)
  await until(home, ({ sessions }) => sessions.get('changed')?.last?.seq === 4)
  t.match(home.peek().sessions.get('changed')?.last, { text: 'You: Prune it' })
  t.equal(home.peek().sessions.get('idle')?.last, undefined)
})
