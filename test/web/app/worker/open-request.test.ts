import t from 'tap'
import { accountVault, cryptoReady, type Rest } from '../../../../lib/client/index.ts'
import { openAskOf } from '../../../../web/app/worker/open-request.ts'

await cryptoReady()
const secret = () => new Uint8Array(32).fill(7)
const { cipher, wrapped: dataEncryptionKey } = accountVault(secret()).newKey()

/** A server with this state of the session `s1`, and nothing else. */
function serverWith(state: object | null) {
  const row = { id: 's1', dataEncryptionKey, agentState: state && cipher.seal(state) }
  return { secret, rest: { call: async () => ({ sessions: [{ ...row, id: 's0' }, row] }) } as unknown as Rest }
}

t.test('the only open request is found, with the key to encrypt its answer', async t => {
  const found = await openAskOf(serverWith({ requests: { p1: { tool: 'Bash' } }, completedRequests: { p0: {} } }), 's1')
  t.match(found, { id: 'p1', cipher: { seal: Function } })
})

t.test('of several requests none is chosen, and without an open one there is none', async t => {
  t.equal(await openAskOf(serverWith({ requests: { p1: {}, p2: {} } }), 's1'), 'several')
  for (const state of [{ requests: {} }, { requests: null }, {}, { requests: 'all' }, null]) {
    t.equal(await openAskOf(serverWith(state), 's1'), 'none', JSON.stringify(state))
  }
})

t.test('a session not updated for long, or of another account, has none', async t => {
  t.equal(await openAskOf(serverWith({ requests: { p1: {} } }), 's9'), 'none')
  t.equal(await openAskOf({ ...serverWith({ requests: { p1: {} } }), secret: () => new Uint8Array(32).fill(8) }, 's1'), 'none')
})
