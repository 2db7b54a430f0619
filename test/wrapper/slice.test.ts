import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../kit/server.ts'
import { startPhone } from './kit/phone.ts'
import { readCode } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

t.test('a person pairs a computer, prompts the demo agent, allows its change, and ends it from the phone', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = join(t.testdir(), 'home')

  const login = runWrapper(t, { home, args: ['login', '--server', server.url] })
  const { link, checkCode } = await readCode(login)
  await phone.pair(link, checkCode)
  t.equal(await login.ended, 0)
  t.match(login.output, 'This computer is linked')

  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const session = await phone.session()
  t.match(session.metadata, { flavor: 'acp', agentTitle: 'Demo agent', lifecycleState: 'running' })
  await session.say('Buy apples')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id, request] = Object.entries(session.state.requests ?? {})[0] ?? []
  t.match(request, { tool: 'Edit', kind: 'edit', title: 'Edit notes.md', choices: [{ kind: 'allow_once' }, {}, { kind: 'reject_once' }] })
  t.match(request?.content, [{ type: 'diff', newText: /- Buy apples\n$/ }])
  await session.until(() => session.events().some(event => event.t === 'tool-call-start' && event.call === id))

  await t.rejects(session.call('permission', { id: id ?? '', approved: true, choice: 'allow', shown: 'another' }), /changed/)
  await session.call('permission', { id: id ?? '', approved: true, choice: 'allow', shown: request?.shown, answeredBy: 'Test phone' })
  await session.until(({ messages }) => messages.some(({ role, content }) => role === 'agent' && content.type === 'event'))

  t.match(readFileSync(join(home, 'demo', 'notes.md'), 'utf8'), /- Buy apples\n$/)
  t.match(session.state.completedRequests?.[id ?? ''], { status: 'approved', decision: 'approved', answeredBy: 'Test phone' })
  t.strictSame(session.state.requests, {})
  const kinds = session.events().map(event => event.t)
  t.equal(kinds[0], 'turn-start')
  t.equal(kinds.at(-1), 'turn-end')
  t.ok(session.partials.length > 3, 'the text was seen while it grew')

  t.match(await session.call('killSession', {}), { success: true })
  t.equal(await wrapper.ended, 0)
  t.match(wrapper.output, 'Everything was delivered')
  t.match(await phone.sessions(), [{ active: false, metadata: { lifecycleState: 'archived' } }])
})
