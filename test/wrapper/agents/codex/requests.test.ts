import t from 'tap'
import type { AgentEvent, Step } from '../../../../lib/wrapper/agents/agent.ts'
import { createRequests } from '../../../../lib/wrapper/agents/codex/requests.ts'
import type { RequestId } from '../../../../lib/wrapper/agents/codex/server.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const common = { threadId: 'thread', turnId: 'turn', itemId: 'item' }

t.test('a permanent yes says what Codex will then allow', t => {
  const rule = (words: string[]) => ({ acceptWithExecpolicyAmendment: { execpolicy_amendment: words } })
  const host = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'example.org', action: 'allow' } } }
  const availableDecisions = ['accept', 'acceptForSession', rule(['npm', 'run']), host]
  const cases: [string, object, string[]][] = [
    ['item/fileChange/requestApproval', common, ['Allow edits to these files this session']],
    [
      'item/commandExecution/requestApproval',
      { ...common, command: 'npm run build', availableDecisions },
      ['Allow this command this session', 'Always allow npm run *', 'Always allow example.org']
    ],
    ['item/permissions/requestApproval', { ...common, permissions: { network: true } }, ['Allow these rights this session']]
  ]
  for (const [method, params, labels] of cases) {
    const events: AgentEvent[] = []
    const requests = createRequests({ emit: event => events.push(event), reply() {}, step: () => undefined })
    t.ok(requests.ask(1, method, params))
    const lasting = events.flatMap(event => (event.type === 'permission-asked' ? event.asked.choices : [])).filter(({ grants }) => grants)
    t.ok(lasting.every(({ label, grants }) => grants?.lasts === (label.startsWith('Always') ? 'always' : 'session')))
    t.same(
      events
        .flatMap(event => (event.type === 'permission-asked' ? event.asked.choices : []))
        .flatMap(({ kind, label }) => (kind === 'allow_always' ? label : [])),
      labels
    )
  }
  t.end()
})

t.test('what Codex asks is shown with its step and its reason, and its answer is what Codex expects', t => {
  const running: Step = {
    call: 'item',
    name: 'Bash',
    title: 'make',
    kind: 'execute',
    input: { command: 'make' },
    locations: [],
    content: []
  }
  const once = { id: 'accept', label: 'Allow once', kind: 'allow_once' }
  const no = { id: 'decline', label: 'Deny', kind: 'reject_once' }
  const network = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'example.org', action: 'deny' } } }
  const rule = (words: string[]) => ({ acceptWithExecpolicyAmendment: { execpolicy_amendment: words } })
  const rights = { network: { enabled: true } }
  const cases: [method: string, params: object, known: Step | undefined, asked: object, replies: [choice: string, reply: object][]][] = [
    [
      'item/commandExecution/requestApproval',
      { command: "bash -lc 'make'", cwd: '/a', reason: 'To build', availableDecisions: ['accept', 'cancel'] },
      undefined,
      {
        ask: 'item',
        step: { call: 'item', name: 'Bash', title: 'make', input: { command: 'make', cwd: '/a', reason: 'To build' } },
        choices: [once, no]
      },
      [
        ['accept', { decision: 'accept' }],
        ['decline', { decision: 'decline' }]
      ]
    ],
    [
      'item/commandExecution/requestApproval',
      { command: 'other', reason: 'Why' },
      running,
      { step: { title: 'make', input: { reason: 'Why' } } },
      []
    ],
    [
      'item/commandExecution/requestApproval',
      { command: 'other', approvalId: 'second' },
      running,
      { ask: 'second', step: { title: 'other' } },
      []
    ],
    ['item/commandExecution/requestApproval', { reason: 'To build' }, undefined, { step: { title: 'To build' } }, []],
    ['item/commandExecution/requestApproval', {}, undefined, { step: { title: 'Run a command', input: { command: 'Run a command' } } }, []],
    [
      'item/commandExecution/requestApproval',
      {
        availableDecisions: [
          network,
          rule(['/bin/bash', '-lc', 'npm run']),
          rule(['/bin/bash', 'x.sh']),
          rule(['a', 'b', 'c']),
          { unheard: 'of' }
        ]
      },
      running,
      {
        choices: [
          { id: 'rule-0', label: 'Never allow example.org', kind: 'reject_always' },
          {
            id: 'rule-1',
            label: 'Always allow npm run *',
            kind: 'allow_always',
            grants: { lasts: 'always', what: [{ type: 'commands', of: ['npm run *'] }] }
          },
          { id: 'rule-2', label: 'Always allow /bin/bash x.sh *' },
          { id: 'rule-3', label: 'Always allow a b c *' },
          no
        ]
      },
      [
        ['rule-0', { decision: network }],
        ['rule-1', { decision: rule(['/bin/bash', '-lc', 'npm run']) }]
      ]
    ],
    [
      'item/fileChange/requestApproval',
      { reason: 'To fix it' },
      undefined,
      {
        ask: 'item',
        step: { call: 'item', name: 'Tool', title: 'To fix it', kind: 'other', input: { reason: 'To fix it' } },
        choices: [once, { id: 'acceptForSession' }, no]
      },
      [
        ['acceptForSession', { decision: 'acceptForSession' }],
        ['decline', { decision: 'decline' }]
      ]
    ],
    ['item/fileChange/requestApproval', {}, undefined, { step: { title: 'Edit files', input: {} } }, []],
    ['item/fileChange/requestApproval', {}, running, { step: running }, []],
    [
      'item/permissions/requestApproval',
      { permissions: rights },
      running,
      {
        step: { title: 'More permissions', input: rights },
        choices: [{ id: 'turn', label: 'Allow for this turn', kind: 'allow_once' }, { id: 'session' }, no]
      },
      [
        ['turn', { permissions: rights, scope: 'turn' }],
        ['session', { permissions: rights, scope: 'session' }],
        ['decline', { permissions: {}, scope: 'turn' }]
      ]
    ],
    [
      'item/permissions/requestApproval',
      { permissions: rights, reason: 'To look it up' },
      undefined,
      { step: { title: 'To look it up' } },
      []
    ]
  ]
  for (const [method, params, known, asked, replies] of cases) {
    for (const [choice, reply] of [['unheard of', undefined] as const, ...replies]) {
      const { requests, told, replied } = asking(known)
      t.ok(requests.ask(7, method, { ...common, ...params }))
      t.match(told, [{ type: 'permission-asked', asked }])
      const [event] = told
      const { ask = '', choices = [] } = event?.type === 'permission-asked' ? event.asked : {}
      if ('choices' in asked) t.equal(choices.length, (asked.choices as unknown[]).length)
      t.equal(requests.answer(ask, choice), reply !== undefined)
      t.strictSame(replied, reply === undefined ? [] : [[7, reply]])
      t.equal(requests.answer(ask, choice), false, 'it is answered once')
    }
  }
  t.end()
})

t.test('a damaged request, or one that needs no person, is left to Codex', t => {
  const { requests, told } = asking()
  const url = { serverName: 'shop', threadId: 'thread', mode: 'url', message: 'Sign in', elicitationId: 'e' }
  const left: [method: string, params: object][] = [
    ['item/commandExecution/requestApproval', { ...common, itemId: 5 }],
    ['item/fileChange/requestApproval', { ...common, itemId: 5 }],
    ['item/permissions/requestApproval', common],
    ['item/tool/requestUserInput', common],
    ['mcpServer/elicitation/request', { ...url, serverName: 5 }],
    ['mcpServer/elicitation/request', { ...url, mode: 'form' }],
    ['mcpServer/elicitation/request', { ...url, url: 'file:///etc/passwd' }],
    ['unheard/of', common]
  ]
  for (const [method, params] of left) t.equal(requests.ask(1, method, params), false, method)
  t.strictSame(told, [])
  t.end()
})

t.test('a question of a tool is a form, and its answers are lists of words', t => {
  const { requests, told, replied } = asking()
  const questions = [
    { id: 'colour', header: 'Colour', question: 'Which colour?', options: [{ label: 'Red', description: 'Warm' }, { label: 'Blue' }] },
    { id: 'size', question: 'Which size?', isOther: true, options: [{ label: 'Big' }] },
    { id: 'name', question: 'Which name?', options: [] }
  ]
  t.ok(requests.ask(1, 'item/tool/requestUserInput', { ...common, questions }))
  const always = { multiSelect: false, isRequired: false }
  const red = { value: 'Red', label: 'Red', description: 'Warm' }
  const blue = { value: 'Blue', label: 'Blue' }
  t.strictSame(told, [
    {
      type: 'question-asked',
      asked: {
        ask: 'item',
        call: 'item',
        title: 'Which colour?',
        kind: 'form',
        questions: [
          { id: 'colour', question: 'Which colour?', header: 'Colour', ...always, options: [red, blue], allowsOther: false },
          { id: 'size', question: 'Which size?', ...always, options: [{ value: 'Big', label: 'Big' }], allowsOther: true },
          { id: 'name', question: 'Which name?', ...always, options: [], allowsOther: true }
        ]
      }
    }
  ])
  t.equal(requests.answerQuestion('other', {}), false)
  t.ok(requests.answerQuestion('item', { colour: { values: ['Red'] }, size: { values: ['Big'], other: 'Huge' } }))
  t.strictSame(replied, [[1, { answers: { colour: { answers: ['Red'] }, size: { answers: ['Big', 'Huge'] } } }]])
  t.equal(requests.answerQuestion('item', {}), false, 'it is answered once')
  t.ok(requests.ask(2, 'item/tool/requestUserInput', { ...common, questions: [] }))
  t.match(told.at(-1), { asked: { title: 'Codex asks' } })
  t.ok(requests.answerQuestion('item', undefined))
  t.strictSame(replied.at(-1), [2, { answers: {} }])
  t.end()
})

t.test('a question of an MCP server is a form or a link, which a person accepts or declines', t => {
  const declined = { action: 'decline', content: null, _meta: null }
  const about = { serverName: 'shop', threadId: 'thread', message: 'Which tea?' }
  const form = { ...about, mode: 'form', requestedSchema: { properties: { tea: { type: 'string', title: 'Tea' } } } }
  const link = { ...about, mode: 'url', url: 'https://example.org', elicitationId: 'e' }
  const cases: [params: object, asked: object, content: object | null][] = [
    [form, { kind: 'form', questions: [{ id: 'tea', question: 'Which tea?' }] }, { tea: 'green' }],
    [link, { kind: 'link', url: 'https://example.org' }, null]
  ]
  for (const [params, asked, content] of cases) {
    const { requests, told, replied } = asking()
    t.ok(requests.ask(1, 'mcpServer/elicitation/request', params))
    t.match(told, [{ type: 'question-asked', asked: { ask: 'shop asks', title: 'Which tea?', ...asked } }])
    t.ok(requests.answerQuestion('shop asks', { tea: { values: [], other: 'green' } }))
    t.ok(requests.ask(2, 'mcpServer/elicitation/request', params))
    t.ok(requests.answerQuestion('shop asks', undefined))
    t.strictSame(replied, [
      [1, { action: 'accept', content, _meta: null }],
      [2, declined]
    ])
  }
  t.end()
})

t.test('requests of the same name are told apart, and one that Codex repeats is asked once', t => {
  const { requests, told } = asking()
  const ask = (id: number) => requests.ask(id, 'item/fileChange/requestApproval', common)
  const asks = () => told.flatMap(event => (event.type === 'permission-asked' ? event.asked.ask : []))
  t.ok(ask(1))
  t.ok(ask(1))
  t.ok(ask(2))
  t.strictSame(asks(), ['item', 'item:2'])
  requests.resolved(1)
  t.ok(ask(3), 'its answer is not known yet')
  t.strictSame(asks(), ['item', 'item:2', 'item:3'])
  t.ok(requests.ask(4, 'item/tool/requestUserInput', { ...common, questions: [] }))
  t.ok(requests.ask(4, 'item/tool/requestUserInput', { ...common, questions: [] }))
  t.match(told.slice(3), [{ type: 'question-asked', asked: { ask: 'item:4' } }])
  requests.resolved(4)
  t.strictSame(told.slice(4), [{ type: 'question-closed', ask: 'item:4' }])
  t.end()
})

t.test('an answer given at the terminal was a yes unless its step is denied right away', t => {
  const { requests, told, clock } = asking()
  const answered = (id: number) => {
    told.length = 0
    requests.ask(id, 'item/fileChange/requestApproval', common)
    requests.resolved(id)
    t.equal(requests.answer('item', 'accept'), false)
    return told.splice(0).slice(1)
  }
  t.strictSame(answered(1), [])
  clock.advance(249)
  t.strictSame(told, [])
  clock.advance(1)
  t.strictSame(told, [{ type: 'permission-closed', ask: 'item', approved: true }])
  for (const isDenied of [true, false]) {
    answered(2)
    requests.stepEnded('other', isDenied)
    t.strictSame(told, [])
    requests.stepEnded('item', isDenied)
    clock.advance(1_000)
    t.strictSame(told, [{ type: 'permission-closed', ask: 'item', approved: !isDenied }])
  }
  t.end()
})

t.test('at the end of a turn everything open is closed', t => {
  const { requests, told, clock } = asking()
  requests.ask(1, 'item/fileChange/requestApproval', { ...common, itemId: 'settling' })
  requests.resolved(1)
  requests.ask(2, 'item/fileChange/requestApproval', { ...common, itemId: 'open' })
  requests.ask(3, 'item/tool/requestUserInput', { ...common, itemId: 'question', questions: [] })
  told.length = 0
  requests.closeAll()
  requests.closeAll()
  clock.advance(1_000)
  t.strictSame(told, [
    { type: 'permission-closed', ask: 'open' },
    { type: 'permission-closed', ask: 'settling', approved: false },
    { type: 'question-closed', ask: 'question' }
  ])
  t.equal(requests.answer('open', 'accept'), false)
  t.equal(requests.answerQuestion('question', {}), false)
  t.end()
})

function asking(known?: Step) {
  const told: AgentEvent[] = []
  const replied: [id: RequestId, result: unknown][] = []
  const clock = manualClock()
  const requests = createRequests({
    emit: event => told.push(event),
    reply: (id, result) => replied.push([id, result]),
    step: call => (call === known?.call ? known : undefined),
    clock
  })
  return { requests, told, replied, clock }
}
