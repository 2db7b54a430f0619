import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openCatchUp } from '../../../../lib/wrapper/daemon/catch-up/catch-up.ts'
import { endIdle } from '../../../../lib/wrapper/daemon/catch-up/idle-end.ts'
import { openHome } from '../../../../lib/wrapper/home/credentials.ts'
import { nameOf } from '../../../../lib/wrapper/home/processes.ts'
import { createSessionFolder, listSessions } from '../../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../../lib/wrapper/home/session-notes.ts'
import { startServer } from '../../../kit/server.ts'
import { daemonOf } from '../../kit/daemon.ts'
import { demo, texts, turnsEnded } from '../../kit/demo.ts'
import { runWrapper } from '../../kit/wrapper.ts'

const noProc = process.platform !== 'linux' && 'the name of the other process is made up as it is there'

t.test(
  'only idle sessions of other processes that a phone started are ended, after the hours that their owner chose',
  { skip: noProc },
  async t => {
    const home = t.testdir({})
    const real = process.kill.bind(process)
    const sent: unknown[] = []
    t.intercept(process, 'kill', {
      value: (pid: number, signal: NodeJS.Signals | 0) => (signal === 0 ? real(pid, signal) : sent.push([pid, signal]))
    })
    const allow = (policy: object) => writeFileSync(join(home, 'policy.json'), JSON.stringify(policy), { mode: 0o600 })
    const another = nameOf(process.ppid) ?? ''
    const hourMs = 3_600_000
    /** Those that are ended, in an hour and this much. */
    const ended = (notes: Partial<SessionNotes>, moreMs: number, owner = another, startedBy: 'daemon' | 'terminal' = 'daemon') => {
      const own = { tag: 'a', server: 's', key: null, metadata: { path: '/p', host: 'h', startedBy }, cursor: 0, turn: null }
      const path = join(home, 'sessions', `a@${owner}`)
      rmSync(join(home, 'sessions'), { recursive: true, force: true })
      const { path: made } = createSessionFolder(home, { ...own, ...notes })
      if (made !== path) renameSync(made, path)
      const [{ at } = { at: 0 }] = listSessions(home)
      return endIdle(home, at + hourMs + moreMs)
    }
    allow({})
    t.strictSame(ended({}, 100 * hourMs), [])
    allow({ idleHours: 1 })
    t.strictSame(ended({}, 0), [])
    t.strictSame(ended({ turn: 't1' }, 1), [])
    t.strictSame(ended({ isEnding: true }, 1), [])
    t.strictSame(ended({ isStarting: true }, 1), [])
    t.strictSame(ended({}, 1, another, 'terminal'), [])
    t.strictSame(sent, [])
    t.strictSame(ended({}, 1), [process.ppid])
    t.strictSame(sent, [[process.ppid, 'SIGTERM']])
    allow({ idleHours: 1.5 })
    t.strictSame(ended({}, hourMs / 2), [])
    t.strictSame(ended({}, hourMs / 2 + 1), [process.ppid])
    renameSync(join(home, 'sessions', `a@${another}`), join(home, 'sessions', 'a@999999999-1'))
    t.strictSame(endIdle(home, Date.now() + 100 * hourMs), [], 'it has ended')
    t.strictSame(ended({}, 100 * hourMs, nameOf(process.pid)), [], 'this very process')
  }
)

t.test('a message resumes a session that ended by itself, even if written while no daemon ran [W8]', async t => {
  const { session, wrapper, home } = await demo(t)
  await wrapper.says(/live/)
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await session.say('SCRIPT: text while nobody listened')

  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['while nobody listened'])

  const [{ pid } = {}] = listSessions(home)
  process.kill(pid ?? 0, 'SIGKILL')
  await daemon.says(/ live\n/)
  await session.say('SCRIPT: text after a crash')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['while nobody listened', 'after a crash'], 'nothing twice')
})

t.test('a session that a person ended stays ended until that person writes to it [W8]', async t => {
  const { session, wrapper, home } = await demo(t)
  await wrapper.says(/live/)
  await session.say('SCRIPT: slow 60000 this takes a while')
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  await session.say('SCRIPT: text never')
  await session.call('killSession', {})
  t.equal(await wrapper.ended, 0)

  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  await session.say('SCRIPT: text now')
  await session.until(session => texts(session).includes('now'))
  const looks = daemon.output.match(/resumes/g) ?? []
  t.equal(looks.length, 1, daemon.output)
})

t.test('a session whose agent is missing tells the person who wrote to it', async t => {
  const { session, wrapper, home } = await demo(t)
  await wrapper.says(/live/)
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const [known] = listSessions(home)
  const notes = { ...known?.notes, program: { kind: 'acp', command: join(home, 'gone'), args: [] } }
  writeFileSync(join(known?.path ?? '', 'session.json'), JSON.stringify(notes))
  await session.say('Are you there?')
  await session.until(session => session.seqOf('Are you there?') !== undefined)
  const seq = session.seqOf('Are you there?') ?? 0
  mkdirSync(join(home, 'daemon'), { mode: 0o700 })
  writeFileSync(join(home, 'daemon', 'wakes.json'), JSON.stringify({ [session.id]: { lookedUpTo: seq, unread: seq, attempts: 2 } }))

  runWrapper(t, { home, args: ['daemon', 'run'] })
  const told = () => session.events().flatMap(event => (event.t === 'service' ? event.text : []))
  await session.until(() => told().length > 0)
  t.match(told(), [/^Afield could not resume this session: The command gone was not found\.[\s\S]*Send another message to retry\./])
})

t.test('a look that fails is told and followed by the next, and damaged notes count as none [W8]', async t => {
  const { server, session, wrapper, home: path } = await demo(t)
  await wrapper.says(/live/)
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  mkdirSync(join(path, 'daemon'), { mode: 0o700 })
  writeFileSync(join(path, 'daemon', 'wakes.json'), '{ "half of', { mode: 0o600 })
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('The computer is linked.')

  const told = Promise.withResolvers<string>()
  const resumed = Promise.withResolvers<string>()
  const stopped = new AbortController()
  let failures = 0
  const catchUp = openCatchUp({
    home,
    credentials,
    token: credentials.token,
    fetch: async (url, init) => {
      if (failures > 0 || !String(url).includes(`${session.id}/messages`)) return fetch(url, init)
      failures += 1
      return new Response('{"error":"not now"}', { status: 400, headers: { 'content-type': 'application/json' } })
    },
    resumer: { resume: async id => resumed.resolve(id) },
    signal: stopped.signal,
    tell: line => line.startsWith('catch-up: ') && told.resolve(line)
  })
  t.teardown(() => {
    stopped.abort()
    return catchUp.close()
  })
  await session.say('one that cannot be read yet')
  t.match(await told.promise, /^catch-up: .+/)
  await session.say('another')
  t.equal(await resumed.promise, session.id)
  t.equal(failures, 1)
})

t.test('an idle session started from a phone ends by itself if its owner wants that, and a message resumes it [W8]', async t => {
  const { phone, home, allowed, machine } = await daemonOf(t, await startServer(t))
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo', prompt: 'SCRIPT: text first' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  const dayMs = 24 * 3_600_000
  t.strictSame(endIdle(home, Date.now() + 2 * dayMs), [], 'never unless told')
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [allowed], idleHours: 24 }), { mode: 0o600 })
  t.strictSame(endIdle(home, Date.now() + dayMs / 2), [])
  // The phone hears of the end of a turn a moment before it is noted here.
  while (listSessions(home).some(({ notes }) => notes.turn !== null)) await new Promise(resolve => setImmediate(resolve))
  t.equal(endIdle(home, Date.now() + 2 * dayMs).length, 1)
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await session.say('SCRIPT: text second')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['first', 'second'])
})
