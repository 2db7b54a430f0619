import t from 'tap'
import { accountVault, cryptoReady, terminalVault } from '../../../lib/client/index.ts'
import { engine, fromBase64, legacyBlobKey, sessionBlobKey } from '../../../lib/crypto/index.ts'

t.before(() => cryptoReady())

t.test('only the account decrypts what its paired terminal encrypts', t => {
  const account = accountVault(engine.randomBytes(32))
  const stranger = accountVault(engine.randomBytes(32))
  const terminal = terminalVault({ version: 2, contentPublicKey: account.contentPublicKey, machineKey: engine.randomBytes(32) })

  for (const { cipher, wrapped } of [terminal.newSessionKey(), terminal.machine]) {
    t.equal(fromBase64(wrapped ?? '')?.length, 105)
    t.strictSame(account.openKey(wrapped)?.open(cipher.seal({ path: '/home' })), { ok: true, value: { path: '/home' } })
    t.equal(stranger.openKey(wrapped), undefined)
  }
  t.equal(terminal.version, 2)
  t.end()
})

t.test('each session has its own key, and a stored one decrypts earlier data', t => {
  const account = accountVault(engine.randomBytes(32))
  const terminal = terminalVault({ version: 2, contentPublicKey: account.contentPublicKey, machineKey: engine.randomBytes(32) })
  const [one, other] = [terminal.newSessionKey(), terminal.newSessionKey()]
  t.strictSame(other.cipher.open(one.cipher.seal(1)), { ok: false })
  t.strictSame(terminal.openSessionKey(one.raw).cipher.open(one.cipher.seal(1)), { ok: true, value: 1 })
  t.end()
})

t.test('after legacy pairing everything is encrypted with the account secret, without a data key', t => {
  const secret = engine.randomBytes(32)
  const account = accountVault(secret)
  const terminal = terminalVault({ version: 1, secret })
  t.equal(terminal.version, 1)
  for (const { cipher, wrapped, raw } of [terminal.newSessionKey(), terminal.machine, terminal.openSessionKey(engine.randomBytes(32))]) {
    t.same(raw, secret)
    t.equal(wrapped, null)
    t.strictSame(account.openKey(wrapped)?.open(cipher.seal('x')), { ok: true, value: 'x' })
  }
  t.end()
})

t.test('an invalid data key decrypts nothing, and nothing throws', t => {
  const account = accountVault(engine.randomBytes(32))
  for (const text of ['', 'not base64', 'AAAA', 'A'.repeat(140)]) t.equal(account.openKey(text), undefined)
  t.end()
})

t.test('the app generates its own keys', t => {
  const account = accountVault(engine.randomBytes(32))
  const key = account.newKey()
  t.strictSame(account.openKey(key.wrapped)?.open(key.cipher.seal(null)), { ok: true, value: null })
  t.end()
})

t.test('the key of a session, and that of its attachments, are those that were wrapped; the account secret is given to nobody', t => {
  const secret = engine.randomBytes(32)
  const account = accountVault(secret)
  const { raw, wrapped } = account.newKey()
  t.same(account.rawKey(wrapped), raw)
  t.same(account.openBlobKey(wrapped), sessionBlobKey(raw))
  t.equal(account.rawKey(null), undefined)
  t.same(account.openBlobKey(null), legacyBlobKey(secret))
  t.same(account.secret, secret)
  t.same(account.settings.open(account.openKey(null)?.seal('x') ?? ''), { ok: true, value: 'x' })
  const stranger = accountVault(engine.randomBytes(32))
  t.equal(stranger.rawKey(wrapped), undefined)
  t.equal(stranger.openBlobKey(wrapped), undefined)
  t.end()
})
