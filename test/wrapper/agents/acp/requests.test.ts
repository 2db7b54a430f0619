import t from 'tap'
import type { Elicitation } from '../../../../lib/wrapper/agents/acp/messages.ts'
import { createRequests, isWebAddress, readForm } from '../../../../lib/wrapper/agents/acp/requests.ts'
import type { AgentEvent, PermissionAsk } from '../../../../lib/wrapper/agents/agent.ts'

type FormRequest = Parameters<typeof readForm>[0]

t.test('a text is as long as its form allows, or the person learns what is wrong', async t => {
  const cases: [property: object, text: string, sent: unknown][] = [
    [{ type: 'string', minLength: 3 }, 'abc', 'abc'],
    [{ type: 'string', minLength: 3 }, 'ab', '“Which?” needs at least 3 characters.'],
    [{ type: 'string', maxLength: 3 }, 'abc', 'abc'],
    [{ type: 'string', maxLength: 3 }, 'abcd', '“Which?” allows at most 3 characters.'],
    [{ type: 'string', minLength: null, maxLength: null }, 'abc', 'abc'],
    [{ type: 'array' }, 'abc', ['abc']],
    [{ type: 'integer', minimum: 1, maximum: 5 }, '5', 5],
    [{ type: 'integer', minimum: 1, maximum: 5 }, '6', '“Which?” needs a whole number, at least 1 and at most 5.'],
    [{ type: 'number', minimum: 1 }, '0', '“Which?” needs a number, at least 1.'],
    [{ type: 'number' }, 'many', '“Which?” needs a number.']
  ]
  for (const [property, other, sent] of cases) {
    const form = readForm({ mode: 'form', message: 'Which?', requestedSchema: { properties: { id: property } } } as unknown as FormRequest)
    const send = () => form?.content({ id: { values: [], other: ` ${other} ` } })
    if (typeof sent === 'string' && sent.startsWith('“')) t.throws(send, { message: sent }, sent)
    else t.strictSame(send(), { id: sent }, other)
  }
})

t.test('a form is asked as questions, each with its choices, and its answers come back as the form wants them', t => {
  const form = (properties: object, more: object = {}) =>
    readForm({ mode: 'form', message: 'Which?', requestedSchema: { properties, ...more } } as unknown as FormRequest)
  const question = (about: object) => ({
    id: 'id',
    question: 'Which?',
    multiSelect: false,
    options: [],
    allowsOther: true,
    isRequired: false,
    ...about
  })
  const yesNo = [
    { value: 'true', label: 'Yes' },
    { value: 'false', label: 'No' }
  ]
  const plain = [
    { value: 'a', label: 'a' },
    { value: 'b', label: 'b' }
  ]
  const titled = [
    { const: 'a', title: 'A', description: 'First' },
    { const: 'b', title: null }
  ]
  const labelled = [
    { value: 'a', label: 'A', description: 'First' },
    { value: 'b', label: 'b' }
  ]
  const chosen = (...values: string[]) => ({ values, other: undefined })
  const cases: [property: object, asked: object, answer: object | undefined, content: object][] = [
    [{ type: 'string' }, question({}), { values: [], other: ' tea ' }, { id: 'tea' }],
    [{ type: 'string' }, question({}), { values: [], other: '  ' }, {}],
    [{ type: 'string' }, question({}), undefined, {}],
    [{ type: 'string', title: 'Name' }, question({ header: 'Name' }), undefined, {}],
    [{ type: 'string', title: 'Name', description: 'Whose?' }, question({ question: 'Whose?', header: 'Name' }), undefined, {}],
    [{ type: 'string', title: 'Which?' }, question({}), undefined, {}],
    [{ type: 'boolean' }, question({ options: yesNo, allowsOther: false }), chosen('true'), { id: true }],
    [{ type: 'boolean' }, question({ options: yesNo, allowsOther: false }), chosen('false'), { id: false }],
    [{ type: 'boolean' }, question({ options: yesNo, allowsOther: false }), chosen(), {}],
    [{ type: 'string', enum: ['a', 'b'] }, question({ options: plain, allowsOther: false }), chosen('b'), { id: 'b' }],
    [{ type: 'string', enum: ['a', 'b'] }, question({ options: plain, allowsOther: false }), { values: [], other: 'c' }, {}],
    [{ type: 'string', oneOf: titled }, question({ options: labelled, allowsOther: false }), chosen('a'), { id: 'a' }],
    [
      { type: 'array', items: { enum: ['a', 'b'] } },
      question({ options: plain, allowsOther: false, multiSelect: true }),
      chosen('a', 'b'),
      { id: ['a', 'b'] }
    ],
    [
      { type: 'array', items: { anyOf: titled } },
      question({ options: labelled, allowsOther: false, multiSelect: true }),
      chosen(),
      { id: [] }
    ],
    [{ type: 'array', items: { anyOf: titled } }, question({ options: labelled, allowsOther: false, multiSelect: true }), undefined, {}],
    [{ type: 'integer', minimum: 1 }, question({ number: { isWhole: true, minimum: 1 } }), { values: [], other: '1' }, { id: 1 }],
    [{ type: 'number', maximum: 5 }, question({ number: { isWhole: false, maximum: 5 } }), { values: [], other: '0.5' }, { id: 0.5 }]
  ]
  for (const [property, asked, answer, content] of cases) {
    const read = form({ id: property })
    t.strictSame(read?.questions, [asked], JSON.stringify(property))
    t.strictSame(read?.content(answer ? ({ id: answer } as Parameters<typeof read.content>[0]) : {}), content, JSON.stringify(answer))
  }
  const several = form({ one: { type: 'string' }, two: { type: 'string', title: 'Two' }, odd: { type: 'object' } }, { required: ['two'] })
  t.match(several?.questions, [
    { id: 'one', question: 'one', isRequired: false },
    { id: 'two', question: 'Two', isRequired: true }
  ])
  t.equal(several?.questions.length, 2, 'one of an unknown kind is left out')
  t.equal(several?.questions[1]?.header, undefined)
  t.equal(form({ odd: { type: 'object' }, one: { type: 'string' } }, { required: ['odd'] }), undefined)
  t.equal(form({ odd: { type: 'object' } }), undefined)
  t.equal(form({}), undefined)
  t.end()
})

t.test('a field for an own answer belongs to the choice beside it', t => {
  const properties = { id: { type: 'string', enum: ['a'] }, id_custom: { type: 'string' }, lone_custom: { type: 'string' } }
  const form = readForm({ mode: 'form', message: 'Which?', requestedSchema: { properties } } as unknown as FormRequest)
  t.match(form?.questions, [
    { id: 'id', allowsOther: true, options: [{ value: 'a' }] },
    { id: 'lone_custom', allowsOther: true, options: [] }
  ])
  t.equal(form?.questions.length, 2)
  t.strictSame(form?.content({ id: { values: ['a'], other: ' mine ' } }), { id: 'a', id_custom: 'mine' })
  t.strictSame(form?.content({ id: { values: [], other: 'mine' }, lone_custom: { values: [], other: 'x' } }), {
    id_custom: 'mine',
    lone_custom: 'x'
  })
  t.end()
})

t.test('a permission resolves to a choice that it has, once, or to nothing when it is withdrawn', async t => {
  const { requests, told, ask, signal } = open()
  const chosen = ask('one')
  t.equal(requests.answer('one', 'unheard of'), undefined)
  t.equal(requests.answer('other', 'yes'), undefined)
  t.strictSame(requests.answer('one', 'yes'), { call: 'call', isNo: false })
  t.equal(await chosen, 'yes')
  t.equal(requests.answer('one', 'yes'), undefined)
  signal.abort()
  t.strictSame(told, [], 'it was answered already')

  for (const no of ['no', 'never']) {
    const denied = ask('two')
    t.strictSame(requests.answer('two', no), { call: 'call', isNo: true })
    t.equal(await denied, no)
  }
  const again = open()
  const withdrawn = again.ask('three')
  again.signal.abort()
  t.equal(await withdrawn, undefined)
  t.strictSame(again.told, [{ type: 'permission-closed', ask: 'three' }])
})

t.test('a question is answered, skipped or withdrawn; a text that does not fit leaves it open', async t => {
  const { requests, told, question, signal, last } = open()
  const form = { mode: 'form', message: 'How many?', toolCallId: 'call', requestedSchema: { properties: { id: { type: 'integer' } } } }
  const answered = question(form)
  t.match(told, [{ type: 'question-asked', asked: { call: 'call', title: 'How many?', kind: 'form', questions: [{ id: 'id' }] } }])
  const first = last()
  t.throws(() => requests.answerQuestion(first, { id: { values: [], other: 'many' } }), { message: '“How many?” needs a whole number.' })
  t.equal(requests.answerQuestion('other', {}), false)
  t.equal(requests.answerQuestion(first, { id: { values: [], other: '5' } }), true)
  t.strictSame(await answered, { action: 'accept', content: { id: 5 } })
  t.equal(requests.answerQuestion(first, {}), false)

  const skipped = question(form)
  t.not(last(), first)
  t.equal(requests.answerQuestion(last(), undefined), true)
  t.strictSame(await skipped, { action: 'decline' })

  const withdrawn = question(form)
  const ask = last()
  signal.abort()
  t.strictSame(await withdrawn, { action: 'cancel' })
  t.strictSame(told.slice(3), [{ type: 'question-closed', ask }])
})

t.test('a page to open is a question that ends when it was opened, or when the agent says that it is done', async t => {
  const { requests, told, question, last } = open()
  const page = (elicitationId: string) => ({ mode: 'url', message: 'Sign in', url: 'https://example.org/in', elicitationId })
  const opened = question(page('a'))
  t.strictSame(told, [
    { type: 'question-asked', asked: { ask: last(), call: undefined, title: 'Sign in', kind: 'link', url: 'https://example.org/in' } }
  ])
  t.equal(requests.answerQuestion(last(), {}), true)
  t.strictSame(await opened, { action: 'accept' })
  const [one, two] = [question(page('b')), question(page('c'))]
  requests.linkDone('a')
  requests.linkDone('c')
  t.strictSame(await two, { action: 'accept' })
  t.strictSame(told.slice(3), [{ type: 'question-closed', ask: last() }])
  requests.closeAll()
  t.strictSame(await one, { action: 'cancel' })
})

t.test('what no person can answer is declined at once, and said', async t => {
  for (const about of [
    { mode: 'url', message: 'Open it', url: 'file:///etc/passwd', elicitationId: 'a' },
    { mode: 'form', message: 'Open it', requestedSchema: { properties: {} } }
  ]) {
    const { told, question } = open()
    t.strictSame(await question(about), { action: 'decline' })
    const text = 'The agent asked something that cannot be shown here, so it continues without an answer: Open it'
    t.strictSame(told, [{ type: 'notice', text }])
  }
  for (const url of ['https://a', 'HTTP://a']) t.equal(isWebAddress(url), true, url)
  for (const url of ['javascript:alert()', 'see https://a', 'https:a', 'ftp://a', '']) t.equal(isWebAddress(url), false, url)
})

t.test('all that is open ends with its turn', async t => {
  const { requests, told, ask, question, last } = open()
  const waiting = [
    ask('one'),
    ask('two'),
    question({ mode: 'form', message: 'Which?', requestedSchema: { properties: { id: { type: 'string' } } } })
  ]
  requests.closeAll()
  requests.closeAll()
  t.strictSame(await Promise.all(waiting), [undefined, undefined, { action: 'cancel' }])
  t.strictSame(told.slice(1), [
    { type: 'permission-closed', ask: 'one' },
    { type: 'permission-closed', ask: 'two' },
    { type: 'question-closed', ask: last() }
  ])
})

/** What an agent asks, and what is told of it. */
function open() {
  const told: AgentEvent[] = []
  const requests = createRequests(event => told.push(event))
  const signal = new AbortController()
  const choices = [
    { id: 'yes', label: 'Yes', kind: 'allow_once' },
    { id: 'no', label: 'No', kind: 'reject_once' },
    { id: 'never', label: 'Never', kind: 'reject_always' }
  ]
  return {
    requests,
    told,
    signal,
    ask: (ask: string) => requests.permission({ ask, step: { call: 'call' }, choices } as PermissionAsk, signal.signal),
    question: (about: object) => requests.question(about as Elicitation, signal.signal),
    /** The name of the last question. */
    last: () => told.flatMap(event => (event.type === 'question-asked' ? event.asked.ask : [])).at(-1) ?? ''
  }
}
