import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { goalCommand, goalIn, lastGoalIn } from '../../../../../lib/wrapper/agents/claude/transcript/goals.ts'

const row = (attachment: object, about: object = {}) =>
  JSON.stringify({
    type: 'attachment',
    uuid: 'u',
    sessionId: 's',
    timestamp: '1970-01-01T00:00:01Z',
    attachment: { type: 'goal_status', condition: ' All is tested ', met: false, ...attachment },
    ...about
  })
const common = { source: 'claude', observedAt: 1_000, sourceSessionId: 's', sourceRevision: 'u' }
const active = { ...common, status: 'active', text: 'All is tested', capabilities: { clear: true, edit: true } }

t.test('a goal is set, completed, cleared, or over for a reason that is not known', async t => {
  t.strictSame(goalIn(row({})), active)
  t.strictSame(goalIn(row({ sentinel: true })), active)
  t.strictSame(goalIn(row({ met: true })), { ...common, status: 'inactive', reason: 'completed' })
  t.strictSame(goalIn(row({ met: true, sentinel: true })), { ...common, status: 'inactive', reason: 'cleared' })
  t.strictSame(goalIn(row({ met: true, failed: true })), { ...common, status: 'inactive', reason: 'unknown' })
  t.strictSame(goalIn(row({ failed: true })), { ...common, status: 'inactive', reason: 'unknown' })
  for (const timestamp of [undefined, 'never']) t.strictSame(goalIn(row({}, { timestamp })), { ...active, observedAt: 0 })
})

t.test('no other line is a goal', async t => {
  const lines = [row({ condition: ' ' }), row({}, { uuid: '' }), row({ type: 'other' }), row({}).slice(1), '"goal_status"', '{}']
  for (const line of lines) t.equal(goalIn(line), undefined, line)
})

t.test('the last goal of a conversation is found among other lines, whole or damaged', async t => {
  const file = join(t.testdir(), 'one.jsonl')
  t.equal(lastGoalIn(file), undefined, 'there is no file')
  const said = JSON.stringify({ type: 'user', message: { content: 'What does "goal_status" mean?' } })
  const damaged = row({}).slice(1)
  for (const [lines, text] of [
    [[row({})], 'All is tested'],
    [[row({ condition: 'first' }), said, row({ condition: 'last' }), said, damaged], 'last'],
    [[row({ condition: 'only' }), damaged], 'only'],
    [[said, damaged], undefined],
    [['"goal_status"'], undefined],
    [[], undefined]
  ] as const) {
    for (const end of ['', '\n']) {
      writeFileSync(file, lines.join('\n') + end)
      const goal = lastGoalIn(file)
      t.equal(goal?.status === 'active' ? goal.text : undefined, text)
    }
  }
})

t.test('a goal is set and cleared with a command', async t => {
  t.equal(goalCommand(' All is tested\n'), '/goal All is tested')
  t.equal(goalCommand(undefined), '/goal clear')
})
