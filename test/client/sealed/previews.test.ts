import t from 'tap'
import { openPreview, sealPreview } from '../../../lib/client/sealed/previews.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady } from '../../../lib/crypto/index.ts'
import type { PreviewedAsk } from '../../../lib/protocol/sealed/preview.ts'

await cryptoReady()
const vault = accountVault(new Uint8Array(32).fill(7))
const place = { session: 's1', notice: 'n1' }
const asks: PreviewedAsk = {
  type: 'permission',
  id: 'ask',
  shown: 'hash',
  kind: 'execute',
  text: 'git status',
  isWhole: true,
  risk: 'plain',
  mayAllow: true
}

t.test("a preview sealed with the session key decrypts only with the account, with the session's cipher", t => {
  const key = vault.newKey()
  const sealed = sealPreview(key, place, { title: 'Pears', asks }) ?? ''
  t.notMatch(sealed, /Pears/)
  const opened = openPreview(vault, sealed, place)
  t.same(opened?.preview, { sealedFor: { type: 'preview', ...place }, title: 'Pears', asks })
  t.same(key.cipher.open(opened?.cipher.seal('an answer') ?? ''), { ok: true, value: 'an answer' })
  t.end()
})

t.test('a session with legacy encryption has no key of its own', t => {
  const sealed = sealPreview({ cipher: vault.settings, wrapped: null }, place, { title: 'Pears' }) ?? ''
  t.match(openPreview(vault, sealed, place), { preview: { title: 'Pears' } })
  t.end()
})

t.test('a preview of another session, notice or account, or another sealed text, shows nothing', t => {
  const key = vault.newKey()
  const sealed = sealPreview(key, place, { title: 'Pears' }) ?? ''
  t.equal(openPreview(vault, sealed, { ...place, session: 's2' }), undefined)
  t.equal(openPreview(vault, sealed, { ...place, notice: 'n2' }), undefined)
  t.equal(openPreview(accountVault(new Uint8Array(32)), sealed, place), undefined)
  for (const text of ['', '.', 'x', `${sealed}.x`, `${key.wrapped}.${key.cipher.seal({ title: 'Pears' })}`])
    t.equal(openPreview(vault, text, place), undefined, text)
  t.end()
})

t.test("a long text is cut to the server's limit, and a truncated request cannot be allowed", t => {
  const key = vault.newKey()
  for (const letter of ['x', '漢', '\u0001']) {
    const long = letter.repeat(5_000)
    const sealed = sealPreview(key, place, { title: long, asks: { ...asks, text: long } }) ?? ''
    t.ok(sealed.length > 0 && sealed.length <= 2560, `${sealed.length} letters`)
    const { preview } = openPreview(vault, sealed, place) ?? {}
    t.match(preview?.asks, { text: /…$/, isWhole: false, mayAllow: false })
  }
  t.end()
})

t.test('a question is cut like a request, with half a letter never left over, and the rest stays', t => {
  const key = vault.newKey()
  const question: PreviewedAsk = { type: 'question', id: 'ask', text: `${'x'.repeat(598)}🙂🙂`, reply: 'r' }
  const open = (asks: PreviewedAsk, title = 'Pears') => openPreview(vault, sealPreview(key, place, { title, asks }) ?? '', place)?.preview
  t.same(open(question)?.asks, { ...question, text: `${'x'.repeat(598)}…` })
  const whole = { ...question, text: 'x'.repeat(600) }
  t.same(open(whole)?.asks, whole)
  t.equal(open(question, 'y'.repeat(120))?.title, 'y'.repeat(120))
  t.equal(open(question, 'y'.repeat(121))?.title, `${'y'.repeat(119)}…`)
  t.equal(sealPreview(key, place, { title: '', asks: { ...question, reply: 'r'.repeat(2_560) } }), undefined, 'what cannot be cut')
  t.end()
})
