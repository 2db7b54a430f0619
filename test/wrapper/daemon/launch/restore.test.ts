import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createRest, type Rest } from '../../../../lib/client/link/rest.ts'
import { accountVault } from '../../../../lib/client/sealed/vault.ts'
import { cryptoReady, dataKeyCipher, engine, toBase64 } from '../../../../lib/crypto/index.ts'
import { restoreSession } from '../../../../lib/wrapper/daemon/launch/restore.ts'
import { openHome } from '../../../../lib/wrapper/home/credentials.ts'
import { listSessions } from '../../../../lib/wrapper/home/session-folder.ts'
import { startServer } from '../../../kit/server.ts'
import { daemonOf } from '../../kit/daemon.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import type { Phone, PhoneSession } from '../../kit/phone.ts'
import { openTestHome } from '../../kit/world.ts'

t.test('a session its computer forgot continues in the same folder, as an app remembers it, once however often requested', async t => {
  const server = await startServer(t)
  const { phone, home, allowed, machine } = await daemonOf(t, server)
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo', prompt: 'SCRIPT: text first' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  const { agentSessionId } = session.metadata
  await session.say('SCRIPT: text second')
  await session.until(session => turnsEnded(session) === 2)
  await machine.call('stop-session', { sessionId: session.id })
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await forget(home, session.id)
  await session.say('SCRIPT: text written to nobody')
  await session.until(session => session.seqOf('SCRIPT: text written to nobody') !== undefined)
  const fallback = await reminderOf(server, phone, session)
  const ask = { sessionId: session.id, fallback }

  await t.rejects(machine.call('resume-happy-session', { sessionId: session.id }), /does not know the session/)
  await t.rejects(
    machine.call('resume-happy-session', { ...ask, fallback: { ...fallback, encryptionKey: 'short' } }),
    /is invalid: value.encryptionKey is not 32 bytes/
  )
  const success = { type: 'success', sessionId: session.id }
  const answers = await Promise.all([machine.call('resume-happy-session', ask), machine.call('resume-happy-session', ask)])
  t.match(answers, [success, success])
  await session.until(session => turnsEnded(session) === 3)
  await session.say('SCRIPT: text after')
  await session.until(session => turnsEnded(session) === 4)
  t.strictSame(texts(session), ['first', 'second', 'written to nobody', 'after'], 'nothing twice, nothing left out')
  t.equal(session.metadata.agentSessionId, agentSessionId, 'in the conversation of before')
  t.equal((await phone.sessions()).length, 1)
  t.equal(listSessions(home).length, 1)

  await session.call('killSession', {})
  await ended(home, session.id)
  const other = { ...ask, fallback: { nonsense: true } }
  t.match(await machine.call('resume-happy-session', other), success, 'it is known again, whatever an app says')
  await session.say('SCRIPT: text again')
  await session.until(session => texts(session).includes('again'))
  t.equal((await phone.sessions()).length, 1)
})

/** Waits until no process has it, as what it notes last would make the folder anew, and takes away what is here of it. */
async function forget(home: string, id: string): Promise<void> {
  rmSync(await ended(home, id), { recursive: true })
}

async function ended(home: string, id: string): Promise<string> {
  for (;;) {
    const known = listSessions(home).find(({ notes }) => notes.id === id)
    if (known && dirname(known.path) === join(home, 'ended')) return known.path
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** As existing apps tell it: their number is that of the last change of the account. */
async function reminderOf(server: { url: string }, { secret, token }: Phone, { id, metadata }: PhoneSession) {
  const { sessions } = await createRest({ server: server.url, token, fetch }).call('listSessions', {})
  const row = sessions.find(session => session.id === id)
  const key = accountVault(secret).rawKey(row?.dataEncryptionKey ?? null)
  if (!row || !key) throw new Error('no key of the session')
  const { metadataVersion, agentStateVersion } = row
  return {
    metadata,
    metadataVersion,
    agentStateVersion,
    seq: row.seq + 1000,
    encryptionKey: toBase64(key),
    encryptionVariant: 'dataKey'
  }
}

interface Case {
  /** What the app tells besides. */
  told?: object
  /** Of the metadata in it. */
  about?: object
  /** What the server has. */
  row?: object
  /** Of the metadata there. */
  stored?: object
  isMissing?: boolean
}

/** A computer that knows no session, and a server that has the one that an app tells of. */
async function forgetful(t: Test) {
  await cryptoReady()
  const home = openHome({ AFIELD_HOME: openTestHome(t) })
  const allowed = join(home.path, '..', 'code')
  mkdirSync(allowed)
  symlinkSync('/', join(allowed, 'way-out'))
  writeFileSync(join(home.path, 'policy.json'), JSON.stringify({ folders: [allowed] }), { mode: 0o600 })
  const keys = { version: 2 as const, contentPublicKey: engine.randomBytes(32), machineKey: engine.randomBytes(32) }
  const credentials = { server: 'http://server.example', token: 'token', keys }
  const raw = engine.randomBytes(32)
  const known = { path: allowed, host: 'here', machineId: home.machineId, flavor: 'claude', claudeSessionId: 'c1' }
  return {
    home: home.path,
    allowed,
    key: toBase64(raw),
    remember({ told, about, row, stored, isMissing }: Case = {}) {
      const metadata = dataKeyCipher(raw).seal({ ...known, ...stored })
      const found = { id: 's1', seq: 12, metadata, agentState: null, active: false, ...row }
      const pages: Record<string, object> = {
        first: { sessions: [], hasNext: true, nextCursor: 'second' },
        second: { sessions: isMissing ? [] : [found], hasNext: false, nextCursor: null }
      }
      const call = async (name: string, { query }: { query?: { cursor?: string } }) =>
        name === 'listSessions' ? { sessions: [] } : pages[query?.cursor ?? 'first']
      const reminder = {
        metadata: { ...known, ...about },
        metadataVersion: 3,
        agentStateVersion: 4,
        seq: 9,
        encryptionKey: toBase64(raw),
        encryptionVariant: 'dataKey',
        ...told
      }
      return restoreSession({ home, credentials, rest: { server: credentials.server, call } as unknown as Rest }, 's1', reminder)
    },
    notes: () => listSessions(home.path).map(({ notes }) => notes)
  }
}

t.test("an app's data about a foreign or invalid session is rejected and leaves nothing", async t => {
  const { remember, notes, allowed, home } = await forgetful(t)
  const bytes = (count: number) => toBase64(engine.randomBytes(count))
  const refused: [why: RegExp, of: Case][] = [
    [/belongs to another computer/, { about: { machineId: 'another' } }],
    [/belongs to another computer/, { about: { machineId: undefined } }],
    [/belongs to another computer/, { stored: { machineId: 'another' } }],
    [/encryptionKey is not 32 bytes/, { told: { encryptionKey: bytes(31) } }],
    [/encryptionKey is not 32 bytes/, { told: { encryptionKey: bytes(33) } }],
    [/encryptionKey is not 32 bytes/, { told: { encryptionKey: '' } }],
    [/encryptionVariant/, { told: { encryptionVariant: 'legacy' } }],
    [/seq/, { told: { seq: -1 } }],
    [/seq/, { told: { seq: undefined } }],
    [/metadata.path/, { about: { path: `${allowed}/${'x'.repeat(4096)}` } }],
    [/metadata is too long/, { about: { ofALaterVersion: 'x'.repeat(1024 * 1024) } }],
    [/metadata.claudeSessionId is not a conversation ID/, { about: { claudeSessionId: '--dangerously-skip-permissions' } }],
    [/metadata.agentSessionId is not a conversation ID/, { about: { agentSessionId: '../../c1' } }],
    [/another key/, { told: { encryptionKey: bytes(32) } }],
    [/not allowed on this computer/, { about: { path: '/etc' } }],
    [/not allowed on this computer/, { about: { path: join(allowed, '..') } }],
    [/not allowed on this computer/, { about: { path: join(allowed, 'way-out', 'etc') } }],
    [/may not use Afield’s own folder/, { about: { path: home } }],
    [/no longer exists/, { about: { path: join(allowed, 'gone') } }],
    [/no agent called nonsense/, { about: { flavor: 'nonsense' } }],
    [/no agent called toString/, { about: { flavor: 'toString' } }],
    [/no agent called sh/, { about: { flavor: 'acp', agentTitle: 'sh' } }],
    [/no agent called acp/, { about: { flavor: 'acp' } }],
    [/conversation for this session is unknown/, { about: { claudeSessionId: undefined } }],
    [/conversation for this session is unknown/, { about: { flavor: 'codex' } }],
    [/does not know the session/, { isMissing: true }],
    [/may still be running/, { row: { active: true } }]
  ]
  for (const [why, of] of refused) await t.rejects(remember(of), why)
  t.strictSame(notes(), [])
})

t.test("a session's agent is known by its flavor, or else by its title; neither can name a command", async t => {
  const cases: [about: object, program: object, conversation: string][] = [
    [{ flavor: null }, { kind: 'claude' }, 'c1'],
    [{ flavor: 'claude', agentSessionId: 'a1' }, { kind: 'claude' }, 'a1'],
    [{ flavor: 'codex', codexThreadId: 't1' }, { kind: 'codex' }, 't1'],
    [{ flavor: 'opencode', agentSessionId: 'a1' }, { kind: 'opencode' }, 'a1'],
    [{ flavor: 'gemini', agentSessionId: 'a1' }, { kind: 'acp', command: 'gemini', args: ['--acp'] }, 'a1'],
    [{ flavor: 'acp', agentTitle: 'Goose', agentSessionId: 'a1' }, { kind: 'acp', command: 'goose', args: ['acp'] }, 'a1'],
    [{ flavor: 'acp', agentTitle: 'Demo agent', agentSessionId: 'a1' }, { kind: 'demo' }, 'a1']
  ]
  for (const [about, program, agentSessionId] of cases) {
    const { remember, notes, key, allowed } = await forgetful(t)
    await remember({ about })
    t.match(notes(), [{ id: 's1', key, program, metadata: { path: allowed, agentSessionId }, turn: null }], JSON.stringify(about))
  }
})

t.test('earlier messages are not answered again, and later ones are read, whatever number an app sends', async t => {
  const ours = { methods: ['abort'] }
  const cases: [why: string, of: Case, cursor: number][] = [
    ['the last that the app knew of', { told: { seq: 9 }, row: { seq: 12 } }, 9],
    ['never one that no message has yet', { told: { seq: 900 }, row: { seq: 12 } }, 12],
    ['up to where the agent has read', { told: { seq: 12 }, row: { seq: 12, readSeq: 7 }, stored: ours }, 7],
    ['also when the app lags behind', { told: { seq: 2 }, row: { seq: 12, readSeq: 7 }, stored: ours }, 7],
    ['unless it was a helper that tells nothing of it', { told: { seq: 9 }, row: { seq: 12, readSeq: 0 } }, 9]
  ]
  for (const [why, of, cursor] of cases) {
    const { remember, notes } = await forgetful(t)
    await remember(of)
    t.match(notes(), [{ cursor }], why)
  }
})

t.test("a session known here keeps its key and its folder, even if another key decrypts the server's data", async t => {
  const { remember, notes } = await forgetful(t)
  await remember()
  const known = notes()
  const raw = engine.randomBytes(32)
  const { machineId } = known[0]?.metadata ?? {}
  const metadata = dataKeyCipher(raw).seal({ path: '/', host: 'there', machineId })
  await remember({ told: { encryptionKey: toBase64(raw), seq: 1 }, row: { metadata } })
  t.strictSame(notes(), known)
})
