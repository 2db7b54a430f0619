import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Decrypter } from 'age-encryption'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { opened, sealed } from '../../lib/backup/age.ts'
import { makeBackup } from '../../lib/backup/make.ts'
import { restoreBackup } from '../../lib/backup/restore.ts'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { createServer } from '../../lib/server/create.ts'
import { openStore } from '../../lib/store/open.ts'
import type { Store } from '../../lib/store/store.ts'
import { programFile } from '../kit/program.ts'
import { startServer } from '../kit/server.ts'
import { draft, newAccount, newSession, readAll, sha256, signInAs, tokenDraft } from '../store/contract/kit.ts'

const now = Date.UTC(2030, 0, 2)
const day = 24 * 60 * 60 * 1000

for (const passphrase of [undefined, 'correct horse battery staple']) {
  t.test(
    `a backup ${passphrase ? 'encrypted with a passphrase' : 'without one'} restores unchanged, from one private file [K1, K2, K3]`,
    async t => {
      const { out, place, data, ann, session } = await filledData(t)
      writeFileSync(join(data, 'push-key.pem'), 'a key of the server')
      writeFileSync(join(data, 'setup-code'), 'ABCD-EFGH')
      const file = join(out, 'x.backup')
      const made = await backup(data, file, passphrase)
      t.match(made, { file, holds: { accounts: 1, sessions: 1, messages: 40 }, keys: ['push-key.pem'], sealed: passphrase !== undefined })
      t.equal(statSync(file).mode & 0o777, 0o600)
      t.same(readdirSync(join(file, '..')), ['x.backup'], 'nothing unfinished is left')
      t.same(
        readdirSync(data).filter(name => name.startsWith('copy-')),
        []
      )
      t.equal(readFileSync(file).includes('ABCD-EFGH'), false, 'the setup code lets somebody in')
      t.equal(readFileSync(file).includes('number 17'), passphrase === undefined)

      const impossible = backup(data, join(out, 'a'.repeat(300)), passphrase)
      await t.rejects(impossible, { name: 'CannotStart', message: /cannot be used by this user \(ENAMETOOLONG\)/, exitCode: 78 })

      const empty = join(place, 'new')
      const restored = await restore(empty, file, passphrase)
      t.match(restored, { putAside: [], endedTokens: 0 })
      const store = await open(empty)
      t.same(
        (await readAll(store, ann, session)).map(message => message.sealed),
        Array.from({ length: 40 }, (_, index) => `number ${index}`)
      )
      await store.close()
      t.equal(readFileSync(join(empty, 'push-key.pem'), 'utf8'), 'a key of the server')
      t.same(
        readdirSync(empty).filter(name => name.includes('restor')),
        []
      )
    }
  )
}

t.test('a backup of a running server has every message acknowledged before it began [K1]', async t => {
  const { out, data, ann, session } = await filledData(t)
  const { store } = await serverOver(t, data)
  let acked = 40
  let stop = false
  const writing = (async () => {
    while (!stop) {
      await store.appendMessages(ann, session, [draft(`number ${acked}`)], 1)
      acked++
    }
  })()
  while (acked < 200) await new Promise(resolve => setImmediate(resolve))
  const ackedBefore = acked
  const file = join(out, 'x.backup')
  const made = await backup(data, file, undefined)
  stop = true
  await writing
  t.ok(made.holds.messages >= ackedBefore, `${made.holds.messages} of ${ackedBefore}`)

  await t.rejects(restore(data, file, undefined, true), { message: /Another Afield server is using/ })
})

t.test('revocations after a backup still hold when it is restored [A10] [O6]', async t => {
  const { data, ann } = await filledData(t)
  const file = join(data, '..', 'x.backup')
  const store = await open(data)
  const lost = await store.signIn(signInAs('ann', { token: () => tokenDraft('account', 'a-lost-phone') }))
  t.match(lost, { result: 'signed-in' })
  const epochBefore = epochOf(data)
  await store.close()
  await backup(data, file, undefined)

  const later = await open(data)
  t.equal(await later.revokeToken(ann, tokenDraft('account', 'a-lost-phone').id), 'revoked')
  await later.close()

  await t.rejects(restore(data, file, undefined), { message: /already has a database; with --force/, exitCode: 78 })
  const { putAside, endedTokens } = await restore(data, file, undefined, true)
  t.equal(endedTokens, 1)
  t.ok(readdirSync(putAside[0] ?? '').includes('afield.db'), 'what was there is kept')
  const restored = await open(data)
  t.equal(await restored.findBearer(sha256('a-lost-phone')), 'missing')
  await restored.close()
  t.not(epochOf(data), epochBefore)
  t.equal(query(data, 'SELECT until FROM legacy_hold'), now + day)
})

t.test('a damaged, truncated or foreign backup, or a wrong passphrase, is rejected, and nothing changes', async t => {
  const { data, out: place } = await filledData(t)
  const whole = { open: join(place, 'open.backup'), sealed: join(place, 'sealed.backup') }
  await backup(data, whole.open, undefined)
  await backup(data, whole.sealed, 'right')
  const changed = (path: string, change: (bytes: Buffer) => Buffer) => {
    const file = join(place, 'changed.backup')
    writeFileSync(file, change(readFileSync(path)))
    return file
  }
  const flip = (at: number) => (bytes: Buffer) => {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    return bytes
  }
  const middle = Math.floor(statSync(whole.sealed).size / 2)
  const oneSentence = /^The backup is damaged or truncated\.$/
  // The header of age, and the nonce.
  const headOf = (bytes: Buffer) => bytes.indexOf('\n', bytes.indexOf('\n---') + 1) + 1 + 16
  const refused: [string, () => string, RegExp][] = [
    ['a bit of a sealed one', () => changed(whole.sealed, flip(middle)), oneSentence],
    ['a bit of an open one', () => changed(whole.open, flip(middle)), /damaged/],
    ['all but the start of a sealed one', () => changed(whole.sealed, bytes => bytes.subarray(0, 60)), oneSentence],
    ['something behind a sealed one', () => changed(whole.sealed, bytes => Buffer.concat([bytes, Buffer.from('x')])), oneSentence],
    [
      'all behind a chunk of a sealed one',
      () => changed(whole.sealed, bytes => bytes.subarray(0, headOf(bytes) + 2 * 65_552)),
      oneSentence
    ],
    ['the end of an open one', () => changed(whole.open, bytes => bytes.subarray(0, -10)), /truncated/],
    ['something behind it', () => changed(whole.open, bytes => Buffer.concat([bytes, Buffer.from('x')])), /after its end/],
    ['another file', () => changed(whole.open, () => Buffer.from('hello\n')), /not an Afield backup/],
    ['no file', () => join(place, 'none'), /does not exist/],
    ['a directory', () => place, /is not a file/]
  ]
  const target = join(place, 'new')
  for (const [what, make, says] of refused) {
    await t.rejects(restore(target, make(), 'right'), { message: says, name: 'CannotStart' }, what)
  }
  await t.rejects(restore(target, whole.sealed, 'wrong'), { message: 'Wrong passphrase for this backup.' })
  t.same(
    readdirSync(target).filter(name => !name.startsWith('afield.lock')),
    []
  )
})

t.test('an encrypted backup is an age file: any age program opens it, and the content is a backup [K2]', async t => {
  const { data, out, place } = await filledData(t)
  const file = join(out, 'x.backup')
  await backup(data, file, 'correct horse battery staple')
  t.match(readFileSync(file, 'latin1'), /^age-encryption\.org\/v1\n-> scrypt \S{22} 16\n/)
  const decrypter = new Decrypter()
  decrypter.addPassphrase('correct horse battery staple')
  writeFileSync(join(out, 'opened.backup'), await decrypter.decrypt(readFileSync(file)))
  const restored = await restore(join(place, 'new'), join(out, 'opened.backup'), undefined)
  t.match(restored.manifest.holds, { messages: 40 })
})

t.test('a backup encrypted before the switch to age can be restored [K2]', async t => {
  const data = join(t.testdir(), 'new')
  const file = 'test/fixtures/sealed-before-age.backup'
  await t.rejects(restore(data, file, 'wrong'), { message: 'Wrong passphrase for this backup.' })
  const { manifest } = await restore(data, file, 'correct horse battery staple')
  t.match(manifest.holds, { accounts: 1, sessions: 1, messages: 3 })
  t.equal(readFileSync(join(data, 'push-key.pem'), 'utf8'), 'a key of the server')
  t.equal(query(data, 'SELECT count(*) FROM message'), 3)
})

t.test('a copy made before a migration is restored like a backup, and upgraded again [K2] [V4]', async t => {
  const { data, out, place } = await filledData(t)
  const copy = join(out, 'before-schema-9.db')
  query(data, 'DELETE FROM message WHERE seq IN (3, 4) RETURNING 1')
  query(data, 'UPDATE session SET gaps = 2 RETURNING 1')
  const database = new Database(join(data, 'afield.db'))
  database.prepare('VACUUM INTO ?').run(copy)
  database.close()
  const { manifest, putAside } = await restore(join(place, 'new'), copy, undefined)
  t.same({ holds: manifest.holds, putAside }, { holds: { accounts: 1, sessions: 1, messages: 38 }, putAside: [] })
  t.equal(query(join(place, 'new'), 'SELECT count(*) FROM message'), 38)

  const bytes = readFileSync(copy)
  writeFileSync(copy, bytes.subarray(0, bytes.length - 8192))
  await t.rejects(restore(join(place, 'other'), copy, undefined), { message: /damaged/ })
  writeFileSync(copy, bytes)
  writeFileSync(`${copy}-wal`, 'changes that the copy lacks')
  await t.rejects(restore(join(place, 'other'), copy, undefined), { message: /is not a copy: a program uses it/ })
})

t.test('a server without accounts has nothing to lose: a restore moves its database aside unasked [V7]', async t => {
  const { data, out, place, ann, session } = await filledData(t)
  const file = join(out, 'x.backup')
  await backup(data, file, undefined)
  const empty = join(place, 'empty')
  const server = await createServer({ data: empty, port: 0, logLevel: 'silent', expoUrl: 'off' })
  await t.rejects(restore(empty, file, undefined), { message: /Another Afield server is using/ })
  await server.close()
  const { putAside } = await restore(empty, file, undefined)
  t.equal(putAside.length, 1)
  const store = await open(empty)
  t.equal((await readAll(store, ann, session)).length, 40)
  await store.close()
})

t.test('encrypting and decrypting a large backup holds only a few chunks in memory', async t => {
  let made = 0
  const endless = async function* () {
    for (;;) {
      made += 1
      yield new Uint8Array(64 * 1024)
    }
  }
  let taken = 0
  for await (const _ of opened(sealed(endless(), 'words'), 'words')) if (++taken === 50) break
  t.ok(made < 70, `${made} chunks for 50`)
})

t.test('the commands do the same, and report what they did', async t => {
  const { data, place } = await filledData(t)
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [programFile(), ...args, '--passphrase-file', join(place, 'words')], { encoding: 'utf8' })
  const said = run('backup', join(place, 'out'), '--data', data)
  const file = /^(\S+\.backup) {2}/.exec(said)?.[1] ?? ''
  t.match(said, /Accounts: 1, sessions: 1, messages: 40/)
  t.notMatch(said, /no passphrase/)
  t.match(run('restore', file, '--data', join(place, 'new')), /Restored the backup of .*\n.*messages: 40/)
})

function backup(data: string, target: string, passphrase: string | undefined) {
  return makeBackup({ options: { data, store: `sqlite:${join(data, 'afield.db')}` }, target, passphrase, now, tell() {} })
}

function restore(data: string, file: string, passphrase: string | undefined, force = false) {
  const options = { data, store: `sqlite:${join(data, 'afield.db')}` }
  return restoreBackup({ options, file, passphrase: async () => passphrase ?? '', force, now, tell() {} })
}

async function filledData(t: Test): Promise<{ place: string; out: string; data: string; ann: AccountId; session: SessionId }> {
  const place = t.testdir({ data: {}, out: {}, words: 'a passphrase\n', there: 'an older backup' })
  const data = join(place, 'data')
  const store = await open(data)
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  for (let index = 0; index < 40; index++) await store.appendMessages(ann, session, [draft(`number ${index}`)], 1)
  await store.close()
  return { place, out: join(place, 'out'), data, ann, session }
}

function open(data: string): Promise<Store> {
  return openStore('sqlite:afield.db', { dataDirectory: data, onBroken() {} })
}

async function serverOver(t: Test, data: string): Promise<{ store: Store }> {
  const store = await open(data)
  await startServer(t, { data, store })
  return { store }
}

function epochOf(data: string): unknown {
  return query(data, 'SELECT id FROM epoch')
}

function query(data: string, sql: string): unknown {
  const database = new Database(join(data, 'afield.db'))
  try {
    return database.prepare(sql).pluck().get()
  } finally {
    database.close()
  }
}
