import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import type { Rest } from '../../../lib/client/link/rest.ts'
import { terminalVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine, toBase64 } from '../../../lib/crypto/index.ts'
import type { Credentials } from '../../../lib/wrapper/home/credentials.ts'
import type { SessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import type { LinkState } from '../../../lib/wrapper/uplink/link.ts'
import { createOpening, createUnknownSession, findOnServer, newSessionKey, openSessionKey } from '../../../lib/wrapper/uplink/open.ts'

/** One session, and a server that says of it what it removed. */
function world(removed: readonly string[]) {
  const links: LinkState['type'][] = []
  const opening = Promise.withResolvers<void>()
  let opened = 0
  let current = 'before'
  const page = { complete: true, more: false, removed: removed.map(id => ({ of: 'session', id })) }
  const unknown = createUnknownSession({
    rest: { call: async () => page } as unknown as Rest,
    link: { enter: ({ type }) => void links.push(type) },
    signal: new AbortController().signal,
    current: () => current,
    async openAgain() {
      opened++
      await opening.promise
    }
  })
  return {
    unknown,
    links,
    get opened() {
      return opened
    },
    answer(id: string) {
      current = id
      opening.resolve()
    }
  }
}

t.test('a session unknown to several simultaneous requests is opened again once', async t => {
  const now = world([])
  const first = now.unknown.isOpenedAgain('before')
  while (now.opened === 0) await setImmediate()
  const second = now.unknown.isOpenedAgain('before')
  now.answer('after')
  t.same(await Promise.all([first, second]), [true, true])
  t.equal(await now.unknown.isOpenedAgain('before'), true, 'nor by a request that was refused under the old name')
  t.same([now.opened, now.links], [1, []])
})

t.test('one that is unknown again under the same name is not reopened endlessly', async t => {
  const now = world([])
  now.answer('before')
  t.same([await now.unknown.isOpenedAgain('before'), await now.unknown.isOpenedAgain('before')], [true, false])
  t.same([now.opened, now.links], [1, ['unknown']])
})

t.test('a removed one is over', async t => {
  const now = world(['another', 'before'])
  t.equal(await now.unknown.isOpenedAgain('before'), false)
  t.same([now.opened, now.links], [0, ['gone']])
})

type Answers = Record<string, (request: never) => unknown>
type Row = { id: string; metadata: string; agentState: string | null }
const credentials = (): Credentials =>
  ({ server: 'http://home.example', keys: { version: 1, secret: engine.randomBytes(32) } }) as unknown as Credentials

/** A session with these notes, and a server that answers like this. */
function opening(noted: Partial<SessionNotes>, answers: (seal: (value: unknown) => string) => Answers) {
  const own = credentials()
  const key = openSessionKey(own, null)
  const machine = terminalVault(own.keys).machine.cipher
  let notes = { tag: 'tag', metadata: { path: '/srv', host: 'studio' }, cursor: 7, settled: [9], heardUpTo: 4, ...noted } as SessionNotes
  const asked: string[] = []
  const happened: string[] = []
  const all: Answers = {
    openMachine: () => ({ machine: { metadata: machine.seal({ host: 'studio' }) } }),
    ...answers(value => key.cipher.seal(value))
  }
  const end = new AbortController()
  const opened = createOpening({
    rest: {
      async call(name: string, request: never) {
        asked.push(name)
        return all[name]?.(request)
      }
    } as unknown as Rest,
    home: { path: '/home', machineId: 'm1' },
    credentials: own,
    folder: {
      get notes() {
        return notes
      },
      note: (changes: Partial<SessionNotes>) => {
        notes = { ...notes, ...changes }
      }
    } as unknown as SessionFolder,
    key,
    cells: { metadata: notes.metadata, state: { controlledByUser: true } },
    signal: end.signal,
    onOpened: ({ id }) => void happened.push(`opened ${id}`),
    onNumberedAnew: () => void happened.push('numbered anew'),
    onDeleted: () => void happened.push('deleted'),
    onOtherKey: () => void happened.push('other key')
  })
  return { opened, asked, happened, notes: () => notes, key, end }
}

const rowOf = (seal: (value: unknown) => string, id: string): Row => ({
  id,
  metadata: seal({ path: '/srv', host: 'studio' }),
  agentState: seal({ controlledByUser: true })
})
const found = () => ({ messages: [], hasMore: false })
const missing = () => {
  throw new Refused(404, 'Session not found')
}

t.before(() => cryptoReady())

t.test('a new session is opened once for all who wait, with what it says of itself', async t => {
  const bodies: { tag: string; metadata: string; agentState: string }[] = []
  const { opened, asked, happened, notes, key } = opening({}, seal => ({
    openSession: ({ body }: { body: (typeof bodies)[number] }) => {
      bodies.push(body)
      return { session: rowOf(seal, 's1') }
    }
  }))
  t.equal(opened.id, undefined)
  t.same(await Promise.all([opened.open(), opened.open()]), ['s1', 's1'])
  t.equal(await opened.open(), 's1')
  t.same([asked, happened], [['openMachine', 'openSession'], ['opened s1']])
  t.equal(opened.id, 's1')
  const [body] = bodies
  t.equal(body?.tag, 'tag')
  t.match(
    [body?.metadata, body?.agentState].map(text => key.cipher.open(text ?? '')),
    [{ value: { path: '/srv' } }, { value: { controlledByUser: true } }]
  )
  t.match(notes(), { id: 's1', cursor: 7, settled: [9], heardUpTo: 4 }, 'nothing that it heard is forgotten')
})

t.test('a session that the server has under another id is numbered anew, and forgets the old numbers', async t => {
  const pendingPrompt = { seq: 6, localId: 'l', text: 'waits' }
  const { opened, happened, notes } = opening({ id: 's1', pendingPrompt }, seal => ({
    readMessages: found,
    openSession: () => ({ session: rowOf(seal, 's2') })
  }))
  t.equal(await opened.open(), 's2')
  t.same(happened, ['numbered anew', 'opened s2'])
  t.match(notes(), { id: 's2', cursor: 0, settled: [], heardUpTo: 0, pendingPrompt: { seq: null, localId: 'l', text: 'waits' } })
  const same = opening({ id: 's1', pendingPrompt }, seal => ({ readMessages: found, openSession: () => ({ session: rowOf(seal, 's1') }) }))
  await same.opened.open()
  t.same(same.happened, ['opened s1'])
  t.match(same.notes(), { cursor: 7, pendingPrompt })
})

t.test('one that was deleted meanwhile is not made again, unless it was forgotten before', async t => {
  const removed = { complete: true, more: false, removed: [{ of: 'session', id: 's1' }] }
  const answers = (seal: (value: unknown) => string): Answers => ({
    readMessages: missing,
    readChanges: () => removed,
    openSession: () => ({ session: rowOf(seal, 's2') })
  })
  const { opened, happened } = opening({ id: 's1' }, answers)
  await t.rejects(opened.open(), { name: 'Refused', status: 404 })
  t.same(happened, ['deleted'])
  const again = opening({ id: 's1', isUntagged: true }, answers)
  again.opened.forget()
  t.equal(again.notes().isUntagged, false)
  t.equal(await again.opened.open(), 's2')
  t.same(again.happened, ['numbered anew', 'opened s2'])
  again.opened.forget()
  t.equal(again.opened.id, undefined)
})

t.test('a session without a tag is looked for, to the last page, and never made', async t => {
  const pages = [
    { sessions: [], hasNext: true, nextCursor: 'next' },
    { sessions: [{ id: 's1' }], hasNext: true, nextCursor: 'more' }
  ]
  const cursors: unknown[] = []
  const { opened, asked } = opening({ id: 's1', isUntagged: true }, seal => ({
    readMessages: found,
    listSessions: () => ({ sessions: [{ id: 'another' }] }),
    pageSessions: ({ query }: { query: unknown }) => {
      cursors.push(query)
      const page = pages[cursors.length - 1] ?? { sessions: [], hasNext: false, nextCursor: null }
      return { ...page, sessions: page.sessions.map(({ id }) => rowOf(seal, id)) }
    }
  }))
  t.equal(await opened.open(), 's1')
  t.same(cursors, [{ limit: 200 }, { limit: 200, cursor: 'next' }])
  t.notOk(asked.includes('openSession'))
  const gone = opening({ id: 's9', isUntagged: true }, () => ({
    readMessages: found,
    listSessions: () => ({ sessions: [] }),
    pageSessions: () => ({ sessions: [], hasNext: false, nextCursor: 'ignored' })
  }))
  await t.rejects(gone.opened.open(), { name: 'Refused', status: 404, message: 'Session not found' })
  const latest = async () => ({ sessions: [{ id: 's1' }] })
  t.match(await findOnServer({ call: latest } as unknown as Rest, 's1'), { id: 's1' })
})

t.test('what is sealed with another key is not touched', async t => {
  for (const change of [{ metadata: 'bm90IG91cnM=' }, { agentState: 'bm90IG91cnM=' }]) {
    const { opened, happened } = opening({}, seal => ({ openSession: () => ({ session: { ...rowOf(seal, 's1'), ...change } }) }))
    await t.rejects(opened.open(), { name: 'Refused', status: 403 })
    t.same(happened, ['other key'])
    t.equal(opened.id, undefined)
  }
  const { opened } = opening({}, seal => ({ openSession: () => ({ session: { ...rowOf(seal, 's1'), agentState: null } }) }))
  t.equal(await opened.open(), 's1', 'no state yet')
})

t.test('a strange refusal is asked again later, an invalid token is final', async t => {
  for (const [error, expected] of [
    [new Refused(400, 'What?'), { name: 'Unreachable' }],
    [new Refused(401, 'Who?'), { name: 'Refused', status: 401 }],
    [new Refused(403, 'No'), { name: 'Refused', status: 403 }],
    [new Unreachable('network'), { name: 'Unreachable' }]
  ] as const)
    for (const at of ['openMachine', 'openSession']) {
      const { opened, happened } = opening({}, seal => ({
        openSession: () => ({ session: rowOf(seal, 's1') }),
        [at]: () => {
          throw error
        }
      }))
      await t.rejects(opened.open(), expected, at)
      t.same(happened, [])
    }
})

t.test('one that no longer belongs to this process is not opened', async t => {
  const { opened, happened, notes, end } = opening({}, seal => ({
    openSession: () => {
      end.abort(new Error('taken over'))
      return { session: rowOf(seal, 's1') }
    }
  }))
  await t.rejects(opened.open(), { message: 'taken over' })
  t.same([happened, notes().id, opened.id], [[], undefined, undefined])
})

t.test('a session of an older account is sealed with the secret of the account, and of a newer one with its own key', t => {
  t.equal(newSessionKey(credentials()), null)
  const newer = {
    ...credentials(),
    keys: { version: 2, contentPublicKey: engine.randomBytes(32), machineKey: engine.randomBytes(32) }
  } as unknown as Credentials
  const noted = newSessionKey(newer)
  t.equal(Buffer.from(noted ?? '', 'base64').length, 32)
  t.equal(toBase64(openSessionKey(newer, noted).raw), noted)
  t.not(toBase64(openSessionKey(newer, null).raw), noted)
  t.end()
})
