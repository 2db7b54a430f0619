import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import {
  createTranslator,
  lastTurn,
  placeOf,
  readPlace,
  readUnsent,
  type Translator,
  turnsAfter
} from '../../../../lib/wrapper/agents/codex/history.ts'
import type { Line } from '../../../../lib/wrapper/agents/codex/server.ts'
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
    { type: 'step-ended', row: 't i ends', status: 'denied', step: { content: [{ text: 'half' }] } }
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
    { type: 'text-grew', block: 'm', text: 'whole' }
  ])
  t.end()
})

t.test('text that is complete is not told again when its turn is interrupted, nor is text of a turn before', t => {
  const { translator, told } = translated()
  translator.grew('i', 'Do', false)
  translator.completed(itemOf({ type: 'agentMessage', text: 'Done.' }))
  translator.end({ status: 'interrupted', error: undefined })
  t.strictSame(told().slice(1), [said('Done.', false), { type: 'turn-ended', reason: 'cancelled' }])
  translator.grew('m', 'half', false)
  translator.begin('next')
  const before = told().length
  translator.end({ status: 'interrupted', error: undefined })
  t.strictSame(told().slice(before), [{ type: 'turn-ended', reason: 'cancelled' }])
  t.end()
})

t.test('a turn that still runs as it is read counts as cancelled', async t => {
  const turn = { id: 'one', status: 'inProgress', items: [] }
  const line = { request: async () => ({ data: [turn], nextCursor: null }) } as unknown as Line
  const { events } = await readUnsent(line, { thread: 'a', turn: undefined, isSent: false }, () => false)
  t.strictSame(events, [{ type: 'turn-ended', reason: 'cancelled' }])
})

t.test('a position in a thread is read as it was stored, and no other kind as one', t => {
  const cases: [place: Parameters<typeof placeOf>[0], file: string][] = [
    [{ thread: 'a', turn: undefined, isSent: false }, 'codex:a/'],
    [{ thread: 'a', turn: 'b', isSent: false }, 'codex:a/b'],
    [{ thread: 'a', turn: 'b', isSent: true, isCut: true }, 'codex:a/b/end'],
    [{ thread: 'a', turn: 'b', isSent: false, isCut: true }, 'codex:a/b/cut']
  ]
  for (const [place, file] of cases) {
    t.strictSame(placeOf(place), { file, offset: 0 })
    t.strictSame(readPlace({ file, offset: 0 }), { ...place, isCut: place.isCut === true && !place.isSent })
  }
  for (const file of ['codex:a', 'codex:/b', 'codex:a/b/begin', 'acp:{}', '/a.jsonl', 'x codex:a/b']) {
    t.equal(readPlace({ file, offset: 0 }), undefined, file)
  }
  t.end()
})

t.test('the turns after a position are read page by page, the newest first, and told in order', async t => {
  const pages = [
    ['four', 'three'],
    ['two', 'one']
  ]
  const cases: [turn: string | undefined, isSent: boolean, turns: string[], read: number][] = [
    [undefined, false, ['one', 'two', 'three', 'four'], 2],
    ['gone', true, ['one', 'two', 'three', 'four'], 2],
    ['four', true, [], 1],
    ['four', false, ['four'], 1],
    ['three', true, ['four'], 1],
    ['two', true, ['three', 'four'], 2],
    ['two', false, ['two', 'three', 'four'], 2]
  ]
  for (const [turn, isSent, turns, read] of cases) {
    const { line, asked } = recorded(pages.map(ids => ids.map(id => ({ id }))))
    const found = await turnsAfter(line, { thread: 'a', turn, isSent })
    t.strictSame(
      found.map(({ id }) => id),
      turns
    )
    const page = { threadId: 'a', limit: 20, sortDirection: 'desc', itemsView: 'full' }
    t.strictSame(
      asked,
      [
        { ...page, cursor: null },
        { ...page, cursor: '1' }
      ].slice(0, read)
    )
  }
  const { line, asked } = recorded([[{ id: 'four' }]])
  t.equal((await lastTurn(line, 'a'))?.id, 'four')
  t.strictSame(asked, [{ threadId: 'a', limit: 1, sortDirection: 'desc', itemsView: 'full' }])
  t.equal(await lastTurn(recorded([[]]).line, 'a'), undefined)
})

t.test('what Codex recorded meanwhile is told as turns that have ended', async t => {
  const items = [
    { type: 'userMessage', id: 'm', clientId: 'ours', content: [{ type: 'text', text: 'Look' }] },
    { type: 'unheard of', id: 'u' },
    { type: 'agentMessage', id: 'i', text: 'Done.' }
  ]
  const turn = { id: 't', status: 'inProgress', items }
  const asked = { type: 'prompted', text: 'Look', isOurs: true, row: 't m' }
  const done = said('Done.', false)
  const read = async (isCut: boolean, of: object[] = [turn], known?: string) => {
    const place = { thread: 'a', turn: known, isSent: false, isCut }
    return readUnsent(recorded([of]).line, place, id => id === 'ours')
  }
  t.strictSame(await read(false), {
    events: [asked, done, { type: 'turn-ended', reason: 'cancelled' }],
    upTo: { file: 'codex:a/t/end', offset: 0 }
  })
  t.match((await read(false, [{ ...turn, status: 'completed' }])).events[2], { reason: 'done' })
  t.match((await read(false, [{ ...turn, status: 'failed', error: { message: 'No.' } }])).events[2], { reason: 'failed', error: 'No.' })
  t.strictSame((await read(true, [turn], 't')).events, [done], 'the beginning and the end of a cut one were sent')
  t.strictSame(
    (
      await read(
        true,
        [
          { ...turn, id: 'next' },
          { ...turn, items: [] }
        ],
        't'
      )
    ).events.length,
    3
  )
  t.strictSame(await read(false, [], 'x'), { events: [], upTo: { file: 'codex:a/x', offset: 0 } })
})

/** A Codex with these pages of turns, the newest first. */
function recorded(pages: readonly object[][]) {
  const asked: object[] = []
  const line = {
    async request(method: string, params: { cursor?: string | null }) {
      if (method !== 'thread/turns/list') throw new Error(method)
      asked.push(params)
      const at = Number(params.cursor ?? 0)
      const data = pages[at]?.map(turn => ({ status: 'completed', items: [], ...turn }))
      return { data, nextCursor: at + 1 < pages.length ? String(at + 1) : null }
    }
  } as unknown as Line
  return { line, asked }
}

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
