import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { pause } from '../../../../lib/async/pause.ts'
import { createResumer } from '../../../../lib/wrapper/daemon/launch/resume.ts'
import { createSessionFolder, listSessions, reopen } from '../../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../../lib/wrapper/home/session-notes.ts'

/** A computer whose sessions end with what they were started with, once they may. */
function computer(t: Test) {
  const own = t.testdir({ home: {}, code: {} })
  const home = join(own, 'home')
  const lines = [
    "import { appendFileSync, existsSync, readFileSync } from 'node:fs'",
    'const [name, , tag, ...words] = process.argv.slice(2)',
    'const { AFIELD_HOME: home, AFIELD_SERVER, AFIELD_TOKEN, OTHER } = process.env',
    "const notes = JSON.parse(readFileSync(home + '/starting/' + tag + '.json', 'utf8'))",
    'const env = { AFIELD_SERVER, AFIELD_TOKEN, OTHER }',
    "appendFileSync(home + '/started', JSON.stringify({ command: [name, ...words], folder: process.cwd(), notes, env }) + '\\n')",
    "const end = () => { console.log('it failed'); process.exit(1) }",
    "setInterval(() => existsSync(home + '/go') && end(), 5)",
    // It outlives a test that fails.
    'setTimeout(end, 20_000)'
  ]
  writeFileSync(join(own, 'program.mjs'), lines.join('\n'))
  t.intercept(process, 'argv', { value: [process.execPath, join(own, 'program.mjs')] })
  t.intercept(process, 'execArgv', { value: [] })
  const metadata = { path: join(own, 'code'), host: 'here' }
  const about = { tag: 'one', id: 's1', server: 'https://home.example', key: null, metadata, cursor: 0, turn: null }
  const started = () => {
    const text = existsSync(join(home, 'started')) ? readFileSync(join(home, 'started'), 'utf8') : ''
    return text.split('\n').flatMap(line => (line === '' ? [] : JSON.parse(line)))
  }
  return {
    home,
    code: metadata.path,
    session: (notes: Partial<SessionNotes> = {}) => createSessionFolder(home, { ...about, program: { kind: 'demo' }, ...notes }),
    resumer: createResumer({ home, env: { OTHER: 'kept', AFIELD_TOKEN: 'a' } }),
    go: () => writeFileSync(join(home, 'go'), ''),
    started,
    async until(count: number) {
      while (started().length < count) await pause(5)
    }
  }
}

const unknown = { message: 'This computer does not know the session.' }

t.test('a session that nobody knows is not resumed', async t => {
  const { resumer, session, started } = computer(t)
  await t.rejects(resumer.resume('s1'), unknown)
  session({ id: 's2' }).retire()
  await t.rejects(resumer.resume('s1'), unknown)
  await t.rejects(
    resumer.resume('s1', {}, async () => {}),
    unknown
  )
  const cannot = new Error('the app knows nothing')
  await t.rejects(
    resumer.resume('s1', {}, () => Promise.reject(cannot)),
    cannot
  )
  t.strictSame(started(), [])
})

t.test('a session that runs is left alone, and what an app remembers of a known one is not wanted', async t => {
  const { resumer, session, started } = computer(t)
  session()
  await resumer.resume('s1', {}, async () => void t.fail('it is known'))
  t.strictSame(started(), [])
})

t.test('a session of an earlier version cannot be resumed', async t => {
  const { resumer, session } = computer(t)
  session({ program: undefined }).retire()
  await t.rejects(resumer.resume('s1'), { message: 'This session was made by an earlier version and cannot be resumed.' })
})

t.test('an ended session is started in its folder as it was chosen, and says why it could not be', async t => {
  const { resumer, session, started, go, code } = computer(t)
  go()
  await t.rejects(
    resumer.resume('s1', { mode: 'plan', model: 'small', effort: 'low' }, async () => session().retire()),
    { message: 'it failed' }
  )
  t.strictSame(started(), [
    {
      command: ['resume', 's1'],
      folder: code,
      notes: { mode: 'plan', model: 'small', effort: 'low' },
      env: { AFIELD_SERVER: 'https://home.example', OTHER: 'kept' }
    }
  ])
})

t.test('a session that is wanted by several is started once, and again when that has failed', async t => {
  const { resumer, session, started, go, until } = computer(t)
  session().retire()
  session({ tag: 'two', id: 's2' }).retire()
  const all = ['s1', 's1', 's2'].map(id => t.rejects(resumer.resume(id), { message: 'it failed' }))
  await until(2)
  go()
  await Promise.all(all)
  t.strictSame(new Set(started().map(({ command }) => command.join(' '))), new Set(['resume s1', 'resume s2']))
  t.equal(started().length, 2)
  await t.rejects(resumer.resume('s1'), { message: 'it failed' })
  t.equal(started().length, 3)
})

t.test('a session that someone resumed faster at the terminal is resumed', async t => {
  const { resumer, home, session, go, until } = computer(t)
  session().retire()
  const resuming = resumer.resume('s1')
  await until(1)
  const [known] = listSessions(home)
  t.ok(known && reopen(known))
  go()
  await resuming
})

t.test('a session that is ending is resumed when it has ended, and one that goes on is left alone', async t => {
  const { resumer, session, started, go } = computer(t)
  const ending = session({ isEnding: true })
  const other = session({ tag: 'two', id: 's2', isEnding: true })
  go()
  const resuming = resumer.resume('s1').catch((error: Error) => error.message)
  const going = resumer.resume('s2')
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(started(), [])
  other.note({ isEnding: false })
  await going
  t.strictSame(started(), [])
  ending.retire()
  t.equal(await resuming, 'it failed')
})
