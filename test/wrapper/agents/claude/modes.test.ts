import t from 'tap'
import { modesAt } from '../../../../lib/wrapper/agents/claude/modes.ts'

t.test('a mode that is not ours is shown under its own name', async t => {
  const { current, available } = modesAt('plan')
  t.equal(current, 'plan')
  t.strictSame(
    available.map(({ id, name }) => `${id}: ${name}`),
    ['default: Ask first', 'acceptEdits: Edit freely', 'plan: Plan only', 'bypassPermissions: Full auto']
  )
  t.strictSame(modesAt('dontAsk'), {
    current: 'dontAsk',
    available: [...available, { id: 'dontAsk', name: 'dontAsk', description: undefined }]
  })
})
