import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startAcp } from '../../../lib/wrapper/agents/acp.ts'
import type { StartAgent } from '../../../lib/wrapper/agents/agent.ts'
import { choice, listenTo, testAgent } from './contract.ts'

const start = (how: StartAgent) => {
  const args = ['bin/afield.ts', 'demo-agent', join(how.directory, '.conversations')].map((arg, index) =>
    index === 0 ? join(process.cwd(), arg) : arg
  )
  return startAcp({ command: process.execPath, args, title: 'Demo agent' }, how)
}

testAgent(t, {
  start,
  write: (path, content, end) => `SCRIPT: think hm; tool write ${JSON.stringify({ path, content })} ;; text ${end}`,
  slow: (ms, words) => `SCRIPT: slow ${ms} ${words}`
})

t.test('without a script it tells its story: it thinks, plans, reads, asks, writes, runs and sums up', async t => {
  const directory = t.testdir()
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '' } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  await agent.prompt('Mend the gate')
  const { asked } = await talk.until('permission-asked')
  agent.answer(asked.ask, choice(asked, 'allow_once'))
  await talk.until('turn-ended')
  t.match(readFileSync(join(directory, 'notes.md'), 'utf8'), /- Mend the gate\n$/)
  const kinds = talk.heard.flatMap(event => (event.type === 'step-ended' ? `${event.step.kind} ${event.status}` : []))
  t.strictSame(kinds, ['read completed', 'edit completed', 'execute completed'])
  const last = talk.heard.findLast(event => event.type === 'plan')
  t.ok(last?.type === 'plan' && last.entries.every(({ status }) => status === 'completed'))
})
