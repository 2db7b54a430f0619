import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { Refused } from '../../../../lib/wrapper/agents/opencode/refusals.ts'
import { createRequests } from '../../../../lib/wrapper/agents/opencode/requests.ts'
import type { PermissionRequest, QuestionRequest } from '../../../../lib/wrapper/agents/opencode/shapes.ts'

t.test('a permanent yes says what opencode will then allow', t => {
  const cases: [string, string[], string][] = [
    ['edit', ['*'], 'Allow all edits this session'],
    ['edit', ['src/*'], 'Allow edits to src/* this session'],
    ['bash', ['npm run *', 'ls *'], 'Allow npm run *, ls * this session'],
    ['bash', ['*'], 'Allow every command this session'],
    ['webfetch', ['*'], 'Allow webfetch this session'],
    ['external_directory', ['/tmp/*'], 'Allow work in /tmp/* this session']
  ]
  const choices = (label: string) => [
    { id: 'once', label: 'Allow once', kind: 'allow_once' },
    { id: 'always', label },
    { id: 'reject', label: 'Deny', kind: 'reject_once' }
  ]
  for (const [permission, always, label] of cases) {
    const events: AgentEvent[] = []
    const requests = createRequests({ emit: event => events.push(event), post: async () => {} })
    requests.permission({ id: 'p', sessionID: 's', permission, patterns: [], metadata: {}, always }, undefined)
    t.match(events, [{ type: 'permission-asked', asked: { choices: choices(label) } }])
  }
  t.end()
})

const permission: PermissionRequest = {
  id: 'p',
  sessionID: 's',
  permission: 'bash',
  patterns: [],
  always: [],
  metadata: { command: 'make' },
  tool: undefined
}
const question: QuestionRequest = {
  id: 'q',
  sessionID: 's',
  questions: [
    {
      question: 'Which tea?',
      header: 'Tea',
      options: [
        { label: 'Green', description: 'Fresh' },
        { label: 'Black', description: undefined }
      ],
      multiple: true,
      custom: false
    },
    { question: 'How much?', header: undefined, options: [], multiple: undefined, custom: undefined }
  ],
  tool: { messageID: 'm', callID: 'c' }
}

t.test('a permission is asked once, and the answer is passed on once', t => {
  for (const [choice, reason, reply, isNo] of [
    ['once', 'Please', { reply: 'once' }, false],
    ['always', undefined, { reply: 'always' }, false],
    ['reject', undefined, { reply: 'reject' }, true],
    ['reject', 'Not now', { reply: 'reject', message: 'Not now' }, true]
  ] as const) {
    const { requests, told, posted } = asking()
    requests.permission(permission, undefined)
    requests.permission(permission, undefined)
    t.match(told, [{ type: 'permission-asked', asked: { ask: 'p', step: { call: 'p', name: 'Bash', title: 'make' } } }])
    t.equal(told.length, 1)
    t.equal(requests.answer('other', choice), undefined)
    t.equal(requests.answer('p', 'unheard of'), undefined)
    t.strictSame(requests.answer('p', choice, reason), { call: 'p', isNo })
    t.equal(requests.answer('p', choice, reason), undefined)
    t.strictSame(posted, [['/permission/p/reply', reply]])
    requests.permissionReplied('p', 'once')
    t.equal(told.length, 1, 'our own answer closes nothing')
  }
  t.end()
})

t.test('a question is a form; answers are labels and own words, in the order of the questions', t => {
  const { requests, told, posted } = asking()
  requests.question(question)
  requests.question(question)
  const always = { isRequired: false }
  const options = [
    { value: 'Green', label: 'Green', description: 'Fresh' },
    { value: 'Black', label: 'Black' }
  ]
  t.strictSame(told, [
    {
      type: 'question-asked',
      asked: {
        ask: 'q',
        call: 'c',
        title: 'Which tea?',
        kind: 'form',
        questions: [
          { id: '0', question: 'Which tea?', header: 'Tea', multiSelect: true, options, allowsOther: false, ...always },
          { id: '1', question: 'How much?', multiSelect: false, options: [], allowsOther: true, ...always }
        ]
      }
    }
  ])
  t.equal(requests.answerQuestion('other', {}), false)
  t.equal(requests.answerQuestion('q', { 0: { values: ['Green'], other: ' Mint ' }, 1: { values: [], other: ' ' } }), true)
  t.equal(requests.answerQuestion('q', {}), false)
  t.strictSame(posted, [['/question/q/reply', { answers: [['Green', 'Mint'], []] }]])
  requests.question(question)
  t.equal(requests.answerQuestion('q', undefined), true)
  t.strictSame(posted[1], ['/question/q/reply', { answers: [[], []] }], 'it continues without an answer')
  requests.question({ ...question, id: 'empty', questions: [], tool: undefined })
  t.match(told.at(-1), { asked: { ask: 'empty', title: 'A question', questions: [] } })
  t.end()
})

t.test('an answer at the terminal closes a request, and is shown', t => {
  const { requests, told } = asking()
  const replies: [closed: object, reply: () => void][] = [
    [{ type: 'permission-closed', ask: 'p', approved: true }, () => requests.permissionReplied('p', 'always')],
    [{ type: 'permission-closed', ask: 'p', approved: false }, () => requests.permissionReplied('p', 'reject')],
    [
      { type: 'question-closed', ask: 'q', answers: { 0: { values: ['Black'], other: 'Mint, Ice' }, 1: { values: [] } } },
      () => requests.questionReplied('q', [['Mint', 'Black', 'Ice']])
    ],
    [{ type: 'question-closed', ask: 'q' }, () => requests.questionReplied('q', undefined)]
  ]
  for (const [closed, reply] of replies) {
    requests.permission(permission, undefined)
    requests.question(question)
    told.length = 0
    reply()
    reply()
    t.strictSame(told, [closed])
    requests.closeAll()
  }
  t.end()
})

t.test('after a gap only what still waits stays open', t => {
  const { requests, told } = asking()
  for (const id of ['p1', 'p2', 'p3']) requests.permission({ ...permission, id }, undefined)
  for (const id of ['q1', 'q2']) requests.question({ ...question, id })
  told.length = 0
  requests.keepOnly(new Set(['p1', 'q1']), call => (call === 'p2' ? false : undefined))
  t.strictSame(told, [
    { type: 'permission-closed', ask: 'p2', approved: false },
    { type: 'permission-closed', ask: 'p3' },
    { type: 'question-closed', ask: 'q2' }
  ])
  told.length = 0
  requests.closeAll()
  requests.closeAll()
  t.strictSame(told, [
    { type: 'permission-closed', ask: 'p1' },
    { type: 'question-closed', ask: 'q1' }
  ])
  t.end()
})

t.test('an answer that came too late says so; a lost server is reported elsewhere', async t => {
  for (const [error, events] of [
    [new Refused(404, 'No such request'), [{ type: 'notice', text: 'This was just answered at the terminal, so that answer counts.' }]],
    [new TypeError('fetch failed'), []]
  ] as const) {
    const { requests, told } = asking(error)
    requests.permission(permission, undefined)
    told.length = 0
    requests.answer('p', 'once')
    await new Promise(resolve => setImmediate(resolve))
    t.strictSame(told, events)
  }
})

/** `failure`: how opencode answers. */
function asking(failure?: Error) {
  const told: AgentEvent[] = []
  const posted: [path: string, body: object][] = []
  const requests = createRequests({
    emit: event => told.push(event),
    async post(path, body) {
      posted.push([path, body])
      if (failure) throw failure
    }
  })
  return { requests, told, posted }
}
