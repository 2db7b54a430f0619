import { RequestError } from '@agentclientprotocol/sdk'
import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import { type PermissionQuestion, type StepUpdate, sessionNotification, type Update } from '../../../../lib/wrapper/agents/acp/messages.ts'
import { createPrompting, createTurns } from '../../../../lib/wrapper/agents/acp/turns.ts'
import type { AgentEvent, Image, Step, TurnEnd } from '../../../../lib/wrapper/agents/agent.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const says = (text: string, more = {}) => update('agent_message_chunk', { content: { type: 'text', text }, ...more })
const thinks = (text: string) => update('agent_thought_chunk', { content: { type: 'text', text } })
const does = (toolCallId: string, more = {}) => update('tool_call', { toolCallId, title: 'Look', kind: 'read', ...more })
const did = (toolCallId: string, status = 'completed', more = {}) => update('tool_call_update', { toolCallId, status, ...more })
const byHelper = (parentToolUseId: string) => ({ _meta: { claudeCode: { parentToolUseId } } })
const plain = (text: string) => ({ type: 'content', content: { type: 'text', text } })
const pixel = { type: 'image', data: Buffer.from('GIF89a a small one').toString('base64'), mimeType: 'image/gif' }
const shown = { type: 'picture', name: 'picture.gif', mimeType: 'image/gif' }

t.test('chunks of one message are one text, and another kind, message or author starts the next', t => {
  const cases: [updates: Update[], lines: string[]][] = [
    [[says('one '), says('two')], ['says one two']],
    [
      [says('one', { messageId: 'a' }), says(' two', { messageId: 'a' }), says('three', { messageId: 'b' })],
      ['says one two', 'says three']
    ],
    [
      [thinks('hm'), says('one'), thinks('well')],
      ['thinks hm', 'says one', 'thinks well']
    ],
    [[says(' \n')], []],
    [
      [says('one'), does('a'), says('two')],
      ['says one', 'starts a', 'says two', 'a cancelled']
    ],
    [
      [says('one'), update('plan', { entries: [] }), says('two')],
      ['says one', 'plan', 'says two']
    ],
    [[says('one'), update('agent_message_chunk', {}), says(' two')], ['says one two']],
    [
      [does('a'), says('its own'), says('of the helper', byHelper('a')), says(' goes on'), says(' too', byHelper('a'))],
      ['starts a', 'subagent-started a', 'says its own goes on', 'a says of the helper too', 'a cancelled', 'subagent-stopped a']
    ]
  ]
  for (const [updates, lines] of cases) {
    const { turns, lines: told } = heard()
    turns.begin()
    for (const update of updates) turns.take(update)
    turns.finish()
    turns.end({ reason: 'cancelled' })
    t.strictSame(told(), [...lines, 'turn-ended cancelled'], JSON.stringify(updates))
  }
  t.end()
})

t.test('a text grows under the name that it is then sent with; that of a subagent is only sent whole', t => {
  const { turns, told } = heard()
  turns.begin()
  turns.take(says('one'))
  turns.take(says(' two'))
  turns.take(thinks('hm'))
  turns.take(says('apart', byHelper('a')))
  turns.finish()
  const grew = (block: number, text: string, thinking = false) => ({ type: 'text-grew', block, text, thinking })
  const text = (block: number, text: string, more = {}) => ({ type: 'text', block, text, thinking: false, ...more })
  t.strictSame(told(), [
    grew(1, 'one'),
    grew(1, 'one two'),
    text(1, 'one two'),
    grew(2, 'hm', true),
    { type: 'subagent-started', subagent: 'a', title: undefined },
    text(2, 'hm', { thinking: true }),
    text(3, 'apart', { subagent: 'a' })
  ])
  t.end()
})

t.test('content that is no text is a block of its own, between the text before and after it', t => {
  const { turns, told, lines } = heard()
  turns.begin()
  turns.take(says('before'))
  turns.take(update('agent_message_chunk', { content: pixel }))
  turns.take(says('between'))
  turns.take(update('agent_message_chunk', { content: { type: 'resource_link', uri: 'file:///a', name: 'A' } }))
  turns.take(says('after'))
  turns.take(update('agent_message_chunk', { content: pixel, ...byHelper('a') }))
  turns.finish()
  t.strictSame(lines(), ['says before', 'picture', 'says between', 'says [A](file:///a)', 'subagent-started a', 'a picture', 'says after'])
  t.match(
    told().filter(({ type }) => type === 'picture'),
    [shown, { ...shown, subagent: 'a' }]
  )
  t.end()
})

t.test('between turns a text is complete once nothing followed for 700 ms; within a turn it waits for its end', t => {
  const { turns, clock, lines } = heard()
  turns.take(says('by'))
  clock.advance(699)
  turns.take(says(' the way'))
  clock.advance(699)
  t.strictSame(lines(), [])
  clock.advance(1)
  t.strictSame(lines(), ['says by the way'])
  turns.take(says('cut short by a turn'))
  turns.begin()
  t.strictSame(lines(), ['says by the way', 'says cut short by a turn'])
  t.equal(clock.pending, 0)
  turns.take(says('in it'))
  clock.advance(10_000)
  t.strictSame(lines().slice(2), [])
  turns.end({ reason: 'done' })
  t.strictSame(lines().slice(2), ['says in it', 'turn-ended done'])
  turns.take(says('afterwards'))
  clock.advance(700)
  t.equal(lines().at(-1), 'says afterwards')
  turns.take(says('again'))
  turns.withdraw()
  t.equal(clock.pending, 0)
  turns.take(says('written again'))
  clock.advance(700)
  t.equal(lines().at(-1), 'says written again', 'without what was withdrawn')
  t.end()
})

t.test('a step is told as it begins, changes and ends; nothing after that', t => {
  const { turns, told } = heard()
  turns.begin()
  turns.take(does('a', { rawInput: { path: '/a' } }))
  turns.take(did('a', 'in_progress', { title: 'Look at it' }))
  turns.take(did('a', 'completed', { content: [plain('found'), { type: 'content', content: pixel }] }))
  turns.take(did('a', 'failed', { title: 'Too late' }))
  turns.take(does('b', { status: 'failed' }))
  const step = { call: 'a', name: 'Read', kind: 'read', input: { path: '/a' } }
  t.match(told(), [
    { type: 'step-started', step: { ...step, title: 'Look' } },
    { type: 'step-updated', step: { ...step, title: 'Look at it' } },
    {
      type: 'step-ended',
      step: { title: 'Look at it', content: [{ text: 'found' }, { text: '[image, image/gif, 1 kB]' }] },
      status: 'completed'
    },
    shown,
    { type: 'step-started', step: { call: 'b' } },
    { type: 'step-ended', step: { call: 'b' }, status: 'failed' }
  ])
  t.equal(told().length, 6)
  t.end()
})

t.test('a picture of a step is shown once it ended, also if it came before', t => {
  const { turns, lines } = heard()
  turns.begin()
  turns.take(does('a', { content: [{ type: 'content', content: pixel }] }))
  turns.take(did('a', 'in_progress'))
  t.strictSame(lines(), ['starts a', 'updates a'])
  turns.take(did('a'))
  turns.take(does('b', { content: [{ type: 'content', content: pixel }] }))
  turns.take(did('b', 'completed', { content: [plain('none')] }))
  t.strictSame(lines().slice(2), ['a completed', 'picture', 'starts b', 'b completed'])
  t.end()
})

t.test('steps that run end with their turn, as it ended, and with a no as denied', t => {
  const cases: [end: TurnEnd, isLost: boolean, status: string, cut: object][] = [
    [{ reason: 'done' }, false, 'completed', {}],
    [{ reason: 'cancelled' }, false, 'cancelled', { isStopped: true }],
    [{ reason: 'failed', error: 'No.' }, false, 'cancelled', {}],
    [{ reason: 'failed', error: 'Gone.' }, true, 'cancelled', { isCut: true }]
  ]
  for (const [end, isLost, status, cut] of cases) {
    const { turns, told } = heard()
    turns.begin()
    for (const update of [does('over', { status: 'completed' }), does('runs'), does('no'), says('half')]) turns.take(update)
    turns.deny('no')
    const before = told().length
    turns.end(end, isLost)
    t.match(told().slice(before), [
      { type: 'text', text: 'half' },
      { type: 'step-ended', step: { call: 'runs' }, status },
      { type: 'step-ended', step: { call: 'no' }, status: 'denied' },
      { type: 'turn-ended' }
    ])
    const [text] = told().slice(before)
    t.strictSame({ ...text, block: 0 }, { type: 'text', block: 0, text: 'half', thinking: false, ...cut })
    t.strictSame(told().at(-1), { type: 'turn-ended', ...end, ...(isLost && { isLost }) })
    turns.take(did('runs', 'failed'))
    t.equal(told().length, before + 4, 'its late end is not told')
    t.match(turns.ask({ sessionId: 's', toolCall: does('runs') as StepUpdate, options: [] }).step, { call: 'runs', title: 'Look' })
  }
  t.end()
})

t.test('a step that fails after a no was denied; one that succeeds after all was not', t => {
  const { turns, lines } = heard()
  turns.begin()
  for (const call of ['a', 'b', 'c']) {
    turns.take(does(call))
    if (call !== 'c') turns.deny(call)
  }
  turns.take(did('a', 'failed'))
  turns.take(did('b', 'completed'))
  turns.take(did('c', 'failed'))
  t.strictSame(lines().slice(3), ['a denied', 'b completed', 'c failed'])
  turns.end({ reason: 'done' })
  turns.begin()
  turns.take(does('a'))
  turns.take(did('a', 'failed'))
  t.strictSame(lines().slice(-2), ['starts a', 'a failed'], 'the no was for the turn before')
  t.end()
})

t.test('a subagent is told with its title as it starts, and ends with its step, its session or the turn', t => {
  const { turns, told, lines } = heard()
  turns.begin()
  turns.take(does('a', { title: 'Ask a helper' }))
  turns.take(does('inner', byHelper('a')))
  turns.take(says('found it', byHelper('a')))
  turns.take(did('inner'))
  turns.take(did('a'))
  t.match(
    told().filter(({ type }) => type === 'subagent-started'),
    [{ subagent: 'a', title: 'Ask a helper' }]
  )
  t.strictSame(lines(), [
    'starts a',
    'subagent-started a',
    'a starts inner',
    'a inner completed',
    'a says found it',
    'subagent-stopped a',
    'a completed'
  ])

  const sessions = heard()
  sessions.turns.begin()
  const state = (state?: string) => update('subagent_update', { sessionId: 's', title: 'Helper', ...(state && { state: { state } }) })
  t.equal(sessions.turns.isHelper('s'), false)
  sessions.turns.take(state())
  sessions.turns.take(state('running'))
  t.equal(sessions.turns.isHelper('s'), true)
  sessions.turns.take(says('on it'), 's')
  sessions.turns.take(update('session_info_update', { title: 'Its own title' }), 's')
  sessions.turns.take(update('usage_update', { used: 1, size: 2 }), 's')
  sessions.turns.take(state('idle'))
  sessions.turns.take(state('idle'))
  t.equal(sessions.turns.isHelper('s'), true, 'it may be given more')
  sessions.turns.take(does('b'), 's')
  sessions.turns.end({ reason: 'done' })
  t.strictSame(sessions.lines(), [
    'subagent-started s',
    's says on it',
    'subagent-stopped s',
    'subagent-started s',
    's starts b',
    's b completed',
    'subagent-stopped s',
    'turn-ended done'
  ])
  t.match(sessions.told()[0], { title: 'Helper' })
  t.end()
})

t.test('a permission is asked about its step, after the text before it, and each time under its own name', t => {
  const { turns, told, lines } = heard()
  const options = [
    { optionId: 'all', name: 'Yes, allow all edits during this session', kind: 'allow_always' },
    { optionId: 'edits', name: 'Always allow edits', kind: 'allow_always' },
    { optionId: 'once', name: 'Always allow edits', kind: 'allow_once' },
    { optionId: 'most', name: 'Always allow edits here', kind: 'allow_always' },
    { optionId: 'exit-plan-clear-context', name: 'Yes, and start over', kind: 'allow_once' },
    { optionId: 'not-exit-plan-clear-', name: 'No', kind: 'reject_once' },
    undefined
  ] as PermissionQuestion['options']
  const question = (toolCall: object): PermissionQuestion => ({
    sessionId: 's',
    toolCall: { toolCallId: 'a', title: 'Write it', kind: 'edit', status: 'completed', ...toolCall } as PermissionQuestion['toolCall'],
    options
  })
  turns.begin()
  turns.take(says('now'))
  const asked = turns.ask(question({}))
  const grants = { lasts: 'session', what: [{ type: 'edits', of: [] }] }
  t.strictSame(asked.choices, [
    { id: 'all', label: 'Yes, allow all edits during this session', kind: 'allow_always', grants },
    { id: 'edits', label: 'Always allow edits', kind: 'allow_always', grants },
    { id: 'once', label: 'Always allow edits', kind: 'allow_once' },
    { id: 'most', label: 'Always allow edits here', kind: 'allow_always' },
    { id: 'not-exit-plan-clear-', label: 'No', kind: 'reject_once' }
  ])
  t.match(asked, { ask: 'a', step: { call: 'a', title: 'Write it', name: 'Edit' } })
  t.equal(turns.ask(question({ title: 'Write more' })).ask, 'a:2')
  t.equal(turns.ask(question({})).ask, 'a:3')
  t.equal(turns.ask(question({ toolCallId: 'b' })).ask, 'b')
  t.strictSame(lines(), ['says now', 'starts a', 'asks a', 'updates a', 'asks a:2', 'updates a', 'asks a:3', 'starts b', 'asks b'])
  t.strictSame(
    told().find(({ type }) => type === 'permission-asked'),
    { type: 'permission-asked', asked }
  )
  turns.end({ reason: 'done' })
  turns.begin()
  t.equal(turns.ask(question({ toolCallId: 'b' })).ask, 'b', 'the next turn counts anew')
  turns.take(says('of the helper', byHelper('b')))
  const { step } = turns.ask({ ...question({ toolCallId: 'c', ...byHelper('b') }) })
  t.strictSame(lines().slice(-4), ['subagent-started b', 'b says of the helper', 'b starts c', 'asks c'])
  t.equal(step.call, 'c')
  t.end()
})

t.test('what an agent reports of its session is told as it is', t => {
  const notice = (text: string) => [{ type: 'notice', text }]
  const entries = [
    { content: 'Tea', status: 'pending' },
    { content: 'Cake', status: 'completed', priority: 'high' }
  ]
  const compaction = (status: string, more = {}) => update('compaction_update', { status, ...more })
  const cases: [update: Update, events: object[]][] = [
    [update('plan', { entries }), [{ type: 'plan', entries }]],
    [update('plan_update', { plan: { type: 'items', entries } }), [{ type: 'plan', entries }]],
    [update('plan_update', { plan: { type: 'markdown', content: '# Tea' } }), [{ type: 'text', block: 1, text: '# Tea', thinking: false }]],
    [update('plan_update', { plan: { type: 'file', uri: 'file:///plan.md' } }), []],
    [update('plan_removed', {}), [{ type: 'plan', entries: [] }]],
    [
      update('available_commands_update', { availableCommands: [{ name: 'init', description: 'Begins' }] }),
      [{ type: 'commands', commands: [{ name: 'init', description: 'Begins' }] }]
    ],
    [update('session_info_update', { title: 'Tea' }), [{ type: 'title', title: 'Tea' }]],
    [update('session_info_update', { title: '' }), []],
    [update('session_info_update', { title: null }), []],
    [update('usage_update', { used: 5, size: 100 }), [{ type: 'usage', used: 5, size: 100 }]],
    [
      update('usage_update', { used: 5, size: 100, cost: { amount: 0.5, currency: 'EUR' } }),
      [{ type: 'usage', used: 5, size: 100, cost: { amount: 0.5, currency: 'EUR' } }]
    ],
    [
      update('usage_update', {
        used: 0,
        size: 100,
        _meta: { '_claude/rateLimit': { status: 'allowed', unifiedWindows: { five_hour: { utilization: 0.5 } } } }
      }),
      [
        { type: 'usage', used: 0, size: 100 },
        { type: 'usage-windows', windows: [{ minutes: 300, usedPercent: 50, isReached: false }] }
      ]
    ],
    [update('notice', { title: 'Slow', description: 'The model is busy' }), notice('Slow: The model is busy')],
    [update('notice', { title: 'Slow', description: '' }), notice('Slow')],
    [compaction('in_progress'), []],
    [compaction('completed'), notice('The agent compacted the conversation to free up context.')],
    [compaction('failed', { error: 'too long' }), notice('The agent could not compact the conversation: too long.')],
    [compaction('failed'), notice('The agent could not compact the conversation: no reason given.')],
    [update('current_mode_update', { currentModeId: 'plan' }), []]
  ]
  for (const [update, events] of cases) {
    const { turns, told } = heard()
    turns.take(update)
    t.strictSame(told(), events, JSON.stringify(update))
  }
  t.end()
})

t.test('the end of a compaction is told once, and the next one again', t => {
  const { turns, told } = heard()
  const compaction = (status: string, compactionId?: string) => turns.take(update('compaction_update', { status, compactionId }))
  compaction('in_progress', 'a')
  compaction('completed', 'a')
  compaction('completed', 'a')
  t.equal(told().length, 1)
  compaction('completed', 'b')
  t.equal(told().length, 2)
  compaction('completed')
  compaction('completed')
  t.equal(told().length, 4, 'those without a name cannot be told apart')
  t.end()
})

t.test('a prompt whose program ended is given again, unless it had output or was cancelled', async t => {
  const gone = new RequestError(-32002, 'Resource not found')
  const signedOut = new RequestError(-32000, 'Authentication required')
  const busy = new Error('The model is busy')
  const done: TurnEnd = { reason: 'done' }
  const dead = { reason: 'failed', error: 'The agent exited unexpectedly (exit 1).', isLost: true }
  const failed = (error: string, more = {}) => ({ reason: 'failed', error, ...more })
  const signIn =
    'Odd is not signed in, or its key was rejected. Run it once in a terminal on this computer and sign in there (/login), then send this again.'
  const restarted = 'Odd exited unexpectedly during this turn. It is running again: send a message to continue.'
  interface Case {
    replies: (TurnEnd | Error)[]
    isCut?: boolean
    isGone?: boolean
    opens?: boolean
    hears?: boolean
    cancels?: boolean
  }
  const cases: [name: string, how: Case, end: object, calls: string[]][] = [
    ['done', { replies: [done] }, done, ['say']],
    ['not accepted', { replies: [busy] }, failed('The model is busy'), ['say', 'gone?']],
    ['signed out', { replies: [signedOut] }, failed(signIn), ['say', 'gone?']],
    ['the agent ended', { replies: [busy], isCut: true }, dead, ['say', 'end']],
    ['gone, and given again', { replies: [gone, done] }, done, ['say', 'open', 'tell', 'say']],
    ['found to be gone', { replies: [busy, done], isGone: true }, done, ['say', 'gone?', 'open', 'tell', 'say']],
    ['not opened again', { replies: [gone], opens: false }, dead, ['say', 'open', 'end']],
    ['refused again', { replies: [gone, busy] }, failed('The model is busy'), ['say', 'open', 'tell', 'say']],
    ['with output', { replies: [gone], hears: true }, failed(restarted, { isLost: true }), ['say', 'open']],
    ['cancelled', { replies: [gone], cancels: true }, { reason: 'cancelled', isLost: false }, ['say', 'open']],
    ['cancelled with output', { replies: [gone], cancels: true, hears: true }, { reason: 'cancelled', isLost: true }, ['say', 'open']]
  ]
  for (const [name, { replies, isCut = false, isGone = false, opens = true, hears, cancels }, end, calls] of cases) {
    const called: string[] = []
    const given: [text: string, images: readonly Image[]][] = []
    const note = <T>(call: string, result: T) => {
      called.push(call)
      return result
    }
    const left = [...replies]
    const prompting = createPrompting({
      title: () => 'Odd',
      async say(text, images) {
        given.push(note('say', [text, images]))
        if (hears) prompting.hear()
        if (cancels) prompting.cancel()
        const reply = left.shift() ?? done
        if (reply instanceof Error) throw reply
        return reply
      },
      isCut: () => isCut,
      end: async () => note('end', dead as TurnEnd),
      isGone: async () => note('gone?', isGone),
      openAgain: async () => note('open', opens),
      tellAgain: () => note('tell', undefined)
    })
    // What an earlier turn was is forgotten.
    prompting.hear()
    prompting.cancel()
    const images = [{ mimeType: 'image/gif', bytes: new Uint8Array(1) }]
    t.strictSame(await prompting.run('go', images), end, name)
    t.strictSame(called, calls, name)
    t.ok(
      given.every(([text, shown]) => text === 'go' && shown === images),
      name
    )
  }
})

function heard() {
  const events: AgentEvent[] = []
  const clock = manualClock()
  const turns = createTurns(event => events.push(event), clock)
  const lines = () => events.filter(({ type }) => type !== 'text-grew').map(lineOf)
  return { turns, clock, told: () => numbered(events), lines }
}

/** Blocks have random names: here they are counted. */
function numbered(events: readonly AgentEvent[]) {
  const blocks: string[] = []
  return events.map(event => {
    if (!('block' in event)) return event
    if (!blocks.includes(event.block)) blocks.push(event.block)
    return { ...event, block: blocks.indexOf(event.block) + 1 }
  })
}

function lineOf(event: AgentEvent): string {
  const by = 'subagent' in event && !event.type.startsWith('subagent') ? `${event.subagent} ` : ''
  const call = (step: Step) => `${by}${step.call}`
  switch (event.type) {
    case 'text':
      return `${by}${event.thinking ? 'thinks' : 'says'} ${event.text}`
    case 'step-started':
      return `${by}starts ${event.step.call}`
    case 'step-updated':
      return `updates ${event.step.call}`
    case 'step-ended':
      return `${call(event.step)} ${event.status}`
    case 'permission-asked':
      return `asks ${event.asked.ask}`
    case 'turn-ended':
      return `turn-ended ${event.reason}`
    case 'subagent-started':
    case 'subagent-stopped':
      return `${event.type} ${event.subagent}`
    default:
      return `${by}${event.type}`
  }
}

function update(sessionUpdate: Update['sessionUpdate'], about: object): Update {
  const { update } = v.parse(sessionNotification, { sessionId: 's', update: { sessionUpdate, ...about } })
  if (!update) throw new Error(`There is no such update: ${JSON.stringify(about)}`)
  return update
}
