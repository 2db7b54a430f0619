import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSessions } from '../../../../lib/wrapper/agents/demo/sessions.ts'

t.test('half a line, as left by a full disk, hides nothing else of a conversation from the next process', t => {
  const folder = t.testdir()
  const first = openSessions(folder)
  const session = first.create('/code')
  const said = (text: string) => ({ sessionUpdate: 'agent_message_chunk' as const, content: { type: 'text' as const, text } })
  first.note(session, said('one'))
  const newest = readdirSync(folder).find(name => name.endsWith('.newest')) ?? ''
  appendFileSync(join(folder, newest), '\n[1,{"sess')
  first.note(session, said('two'))
  t.strictSame(openSessions(folder).find(session.id).history, [said('one'), said('two')])
  t.end()
})

t.test('a conversation is the same for all who find it, and a copy is another', t => {
  const folder = join(t.testdir(), 'of', 'demo')
  const sessions = openSessions(folder)
  const session = sessions.create('/code')
  t.strictSame({ ...session, id: '' }, { id: '', directory: '/code', mode: 'default', model: 'careful', effort: 'medium', history: [] })
  t.equal(sessions.find(session.id), session)
  const said = { sessionUpdate: 'agent_message_chunk' as const, content: { type: 'text' as const, text: 'one' } }
  sessions.note(session, said)
  const copy = sessions.copy(session.id)
  t.strictSame({ ...copy, id: session.id }, session)
  t.not(copy.id, session.id)
  t.not(copy.history, session.history)
  const later = openSessions(folder)
  t.strictSame(later.find(copy.id), copy)
  t.equal(later.find(copy.id), later.find(copy.id), 'read once')
  t.end()
})

t.test('only its owner reads a conversation, and saving leaves one file of it', { skip: process.platform === 'win32' && 'no modes' }, t => {
  const folder = join(t.testdir(), 'demo')
  const sessions = openSessions(folder)
  const session = sessions.create('/code')
  sessions.note(session, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'one' } })
  const modeOf = (path: string) => statSync(path).mode & 0o777
  t.equal(modeOf(folder), 0o700)
  const names = [`${session.id}.json`, `${session.id}.newest`]
  t.strictSame(readdirSync(folder).toSorted(), names)
  for (const name of names) t.equal(modeOf(join(folder, name)), 0o600, name)
  sessions.save(session)
  t.strictSame(readdirSync(folder), [`${session.id}.json`])
  t.equal(openSessions(folder).find(session.id).history.length, 1)
  t.end()
})

t.test('one that is not there, or is damaged, is not found, whatever its name', t => {
  const own = t.testdir({ demo: {}, 'outside.json': '{"id":"x","directory":"/","mode":"default","history":[]}' })
  const folder = join(own, 'demo')
  const notFound = (id: string) => t.throws(() => openSessions(folder).find(id), { name: 'RequestError' }, id)
  notFound('none')
  notFound('../outside')
  t.ok(existsSync(join(own, 'outside.json')))
  writeFileSync(join(folder, 'torn.json'), '{"id":')
  notFound('torn')
  writeFileSync(join(folder, 'old.json'), '{"id":"old","directory":"/code","mode":"plan","history":[]}')
  t.strictSame(
    openSessions(folder).find('old'),
    { id: 'old', directory: '/code', mode: 'plan', model: 'careful', effort: 'medium', history: [] },
    'one from before there were models'
  )
  t.end()
})
