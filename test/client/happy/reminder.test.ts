import t from 'tap'
import { reminderFor } from '../../../lib/client/happy/reminder.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine, fromBase64 } from '../../../lib/crypto/index.ts'
import { machineCalls } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { sessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { sessionReminder } from '../../../lib/protocol/sealed/session-reminder.ts'
import * as v from '../../../lib/schema.ts'

await cryptoReady()
const vault = accountVault(engine.randomBytes(32))
const about = { path: '/orchard', host: 'studio', machineId: 'm1', flavor: 'claude', claudeSessionId: 'c1', ofALaterVersion: [1] }

/** What is told to a helper of a session whose row is this. */
function reminder({ of = {}, wrapped = vault.newKey().wrapped }: { of?: object; wrapped?: string | null } = {}) {
  const metadata = v.parse(sessionMetadata, { ...about, ...of })
  return reminderFor(vault, { seq: 12, metadataVersion: 3, agentStateVersion: 4, dataEncryptionKey: wrapped, metadata }, 'm1')
}

t.test("a daemon of Happy's or ours gets everything about a session that it may have forgotten", async t => {
  const { wrapped, raw } = vault.newKey()
  const told = reminder({ wrapped })
  t.match(told.fallback, { metadataVersion: 3, agentStateVersion: 4, seq: 12, encryptionVariant: 'dataKey' })
  t.same(told.fallback?.metadata, about, 'with what newer wrappers wrote into it')
  t.same(fromBase64(told.fallback?.encryptionKey ?? ''), raw)
  const { params } = machineCalls['resume-happy-session']
  t.same(v.parse(params, { sessionId: 's1', ...told }), { sessionId: 's1', ...told })
  t.same(v.parse(sessionReminder, told.fallback), told.fallback)
})

t.test('the session key goes to no other machine and is never the account key', async t => {
  t.same(reminder({ of: { machineId: 'm2' } }), { fallbackReason: 'other-machine' })
  t.same(reminder({ of: { machineId: undefined } }), { fallbackReason: 'other-machine' })
  t.same(reminder({ wrapped: null }), { fallbackReason: 'no-session-key' })
  t.same(reminder({ wrapped: accountVault(engine.randomBytes(32)).newKey().wrapped }), { fallbackReason: 'no-session-key' })
})
