import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeBackup } from '../../../lib/backup/make.ts'
import { openStore } from '../../../lib/store/open.ts'
import { draft, newAccount, newSession } from '../../store/contract/kit.ts'
import { here } from '../kit/here.ts'

const now = Date.UTC(2030, 0, 2)

/** A data directory with one message, and its backup. */
async function backedUp(t: Test, passphrase?: string) {
  const root = t.testdir({ data: {}, out: {} })
  const data = join(root, 'data')
  const options = { data, store: 'sqlite:afield.db' }
  const store = await openStore(options.store, { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  const ann = await newAccount(store, 'ann')
  await store.appendMessages(ann, await newSession(store, ann), [draft('hello')], 1)
  await store.close()
  const { file } = await makeBackup({ options, target: join(root, 'out'), passphrase, now, tell() {} })
  return { root, data, file }
}

t.test('a restore says what it restored, where the data of before is, and what follows', async t => {
  const { root, data, file } = await backedUp(t)
  const said = (into: string) => [
    `Restored the backup of 2030-01-02T00:00:00.000Z into ${into}.`,
    'Accounts: 1, sessions: 1, messages: 1; every row was checked.'
  ]
  const after = [
    '0 sign-ins revoked since the backup stay revoked. Apps reload everything when they reconnect.',
    "For 24 hours, sign-ins of Happy's apps with a known key need approval in an app that is signed in.",
    ''
  ]
  const fresh = join(root, 'fresh')
  t.strictSame(await here(t, 'restore', { file, data: fresh }), { code: 0, stdout: [...said(fresh), ...after].join('\n'), stderr: '' })
  const refused = { code: 78, stderr: `${data} already has a database; with --force it is moved aside and the backup takes its place.\n` }
  t.match(await here(t, 'restore', { file, data }), { ...refused, stdout: '' })
  const { code, stdout } = await here(t, 'restore', { file, data, force: true })
  t.equal(code, 0)
  const aside = readdirSync(data).find(name => name.startsWith('before-'))
  t.equal(stdout, [...said(data), `The previous data is in ${join(data, aside ?? 'nothing')}.`, ...after].join('\n'))
})

t.test('an encrypted backup needs its passphrase', async t => {
  const { root, file } = await backedUp(t, 'open sesame')
  const restore = (env: Record<string, string> = {}) => here(t, 'restore', { file, data: join(root, 'fresh') }, env)
  const stderr = 'The backup is encrypted; give its passphrase with --passphrase-file or $AFIELD_BACKUP_PASSPHRASE.\n'
  t.match(await restore(), { code: 78, stdout: '', stderr })
  t.match(await restore({ AFIELD_BACKUP_PASSPHRASE: 'open sesame' }), { code: 0, stderr: '' })
})
