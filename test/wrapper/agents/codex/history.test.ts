import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createTranslator, type Translator } from '../../../../lib/wrapper/agents/codex/history.ts'
import { type Item, turnsPage } from '../../../../lib/wrapper/agents/codex/shapes.ts'

t.test('each complete item is sent once, as what it is', t => {
  const cases: [item: object, events: object[]][] = [
    [
      { type: 'userMessage', clientId: 'ours', content: [{ type: 'text', text: 'Look' }, { type: 'image' }] },
      [{ type: 'prompted', text: 'Look\n[image]', isOurs: true, row: 't i' }]
    ],
    [{ type: 'userMessage', content: [{ type: 'text', text: 'Look' }] }, [{ type: 'prompted', text: 'Look', isOurs: false, row: 't i' }]],
    [{ type: 'agentMessage', text: 'Done.' }, [said('Done.', false)]],
    [{ type: 'agentMessage', text: ' \n' }, []],
    [{ type: 'plan', text: 'First this.' }, [said('First this.', false)]],
    [{ type: 'reasoning', summary: ['One.', 'Two.'], content: ['Long.'] }, [said('One.\n\nTwo.', true)]],
    [{ type: 'reasoning', summary: [], content: ['Long.', 'Longer.'] }, [said('Long.\n\nLonger.', true)]],
    [{ type: 'exitedReviewMode', review: 'All is well.' }, [said('All is well.', false)]],
    [{ type: 'enteredReviewMode', review: 'the last commit' }, [{ type: 'notice', text: 'Codex reviews the last commit.' }]],
    [{ type: 'contextCompaction' }, [{ type: 'notice', text: 'Codex compacted the conversation.' }]]
  ]
  for (const [item, events] of cases) {
    const { translator, told } = translated()
    translator.completed(itemOf(item))
    translator.completed(itemOf(item))
    translator.started(itemOf(item))
    translator.grew('i', 'late', false)
    t.strictSame(told(), events, JSON.stringify(item))
  }
  t.end()
})

t.test('a step is updated while it runs, and ends once even if its beginning was not heard', t => {
  const { translator, told } = translated()
  const running = command({ status: 'inProgress' })
  translator.started(running)
  translator.started(command({ status: 'inProgress', aggregatedOutput: 'half' }))
  t.equal(translator.step('i')?.title, 'run')
  translator.completed(command({ status: 'declined', aggregatedOutput: 'half' }))
  t.equal(translator.step('i'), undefined)
  t.match(told(), [
    { type: 'step-started', row: 't i begins', step: { content: [] } },
    { type: 'step-updated', step: { content: [{ text: 'half' }] } },
    { type: 'step-ended', row: 't i ends', status: 'denied' }
  ])
  t.equal(told().length, 3)

  const unheard = translated()
  unheard.translator.completed(command({ status: 'failed' }))
  t.match(unheard.told(), [
    { type: 'step-started', row: 't i begins' },
    { type: 'step-ended', row: 't i ends', status: 'failed' }
  ])
  t.end()
})

t.test('what was incomplete when its turn ended is marked', t => {
  const cases: [end: Parameters<Translator['end']>, text: object[], status: string, end: object][] = [
    [[{ status: 'completed', error: undefined }], [], 'completed', { type: 'turn-ended', reason: 'done' }],
    [
      [{ status: 'interrupted', error: undefined }],
      [{ type: 'text', block: 'm', text: 'half of it', thinking: true, row: 't m', isStopped: true }],
      'cancelled',
      { type: 'turn-ended', reason: 'cancelled' }
    ],
    [
      [{ status: 'failed', error: { message: 'No more.' } }, true],
      [{ type: 'text', block: 'm', text: 'half of it', thinking: true, isCut: true, row: 't m cut' }],
      'cancelled',
      { type: 'turn-ended', reason: 'failed', error: 'No more.' }
    ],
    [
      [{ status: 'failed', error: undefined }],
      [{ type: 'text', block: 'm', text: 'half of it', thinking: true, row: 't m', isStopped: true }],
      'cancelled',
      { type: 'turn-ended', reason: 'failed', error: 'Codex could not continue.' }
    ]
  ]
  for (const [end, text, status, ended] of cases) {
    const { translator, told } = translated()
    translator.started(command({ status: 'inProgress' }))
    translator.grew('m', 'half', true)
    translator.grew('m', ' of it', true)
    const before = told().length
    translator.end(...end)
    const [step, last] = told().slice(-2)
    t.strictSame(told().slice(before, -2), text)
    t.match(step, { type: 'step-ended', status })
    t.strictSame(last, ended)
  }
  t.end()
})

t.test('nothing of one turn is known in the next', t => {
  const { translator, told } = translated()
  translator.completed(itemOf({ type: 'agentMessage', text: 'Done.' }))
  translator.grew('m', 'half', false)
  translator.started(command({ id: 's', status: 'inProgress' }))
  translator.begin('t')
  t.ok(translator.step('s'), 'the same turn goes on')
  translator.begin('next')
  t.equal(translator.step('s'), undefined)
  translator.completed(itemOf({ type: 'agentMessage', text: 'Done again.' }))
  translator.grew('m', 'whole', false)
  t.match(told().slice(-2), [
    { type: 'text', text: 'Done again.', row: 'next i' },
    { type: 'text-grew', text: 'whole' }
  ])
  t.end()
})

function translated() {
  const events: AgentEvent[] = []
  const translator = createTranslator({ emit: event => events.push(event), isOurs: id => id === 'ours' })
  translator.begin('t')
  return { translator, told: () => events }
}

function said(text: string, thinking: boolean) {
  return { type: 'text', block: 'i', text, thinking, row: 't i' }
}

function command(about: object): Item {
  return itemOf({ type: 'commandExecution', command: 'run', ...about })
}

function itemOf(about: object): Item {
  const { data } = v.parse(turnsPage, { data: [{ id: 't', status: 'completed', items: [{ id: 'i', ...about }] }] })
  const item = data[0]?.items[0]
  if (item === undefined) throw new Error('Codex has no such item.')
  return item
}
