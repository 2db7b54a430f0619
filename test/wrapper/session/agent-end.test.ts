import t from 'tap'
import { agentEndOf } from '../../../lib/wrapper/session/agent-end.ts'
import { demo, turnsEnded } from '../kit/demo.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test(
  'the end of a process is reported by code or signal, with no guesses',
  { skip: process.platform === 'win32' && 'no signals' },
  async t => {
    t.same(agentEndOf('exit code 137'), { code: 137 })
    t.same(agentEndOf('killed by SIGKILL'), { signal: 'SIGKILL' })
    t.same(agentEndOf('signal 9'), { signal: 'SIGKILL' })
    t.equal(agentEndOf('It could not be started.'), undefined)
    t.equal(agentEndOf('signal 999'), undefined)
  }
)

t.test('an agent that ended by itself leaves the cause in the metadata, until the session is resumed', async t => {
  const { session, wrapper, home } = await demo(t)
  let complaint = ''
  wrapper.child.stderr?.on('data', text => (complaint += text))
  await session.say('SCRIPT: die')
  t.equal(await wrapper.ended, 1)
  t.match(complaint, /exit code 3/, 'a failure is told on the error output')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  t.same(session.metadata.agentEnd, { code: 3 })
  t.match(wrapper.output, new RegExp(`Resume it with:\\n  \\S.* resume ${session.id}\\n$`), 'and the terminal says how to go on')
  runWrapper(t, { home, args: ['resume', session.id] })
  await session.until(({ metadata }) => metadata.lifecycleState === 'running')
  t.notOk('agentEnd' in session.metadata)
  await session.say('SCRIPT: text again')
  await session.until(session => turnsEnded(session) >= 1)
})
