import { appendFileSync, readdirSync } from 'node:fs'
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
