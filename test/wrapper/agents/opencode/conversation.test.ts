import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import {
  commandsOf,
  forkConversation,
  historyOf,
  isIdleNow,
  newConversation,
  readOptions,
  say,
  waitingNow
} from '../../../../lib/wrapper/agents/opencode/conversation.ts'
import { Refused } from '../../../../lib/wrapper/agents/opencode/refusals.ts'
import type { OpencodeServer } from '../../../../lib/wrapper/agents/opencode/server.ts'

t.test('a conversation is begun and forked by its server', async t => {
  const { server, sent } = answering({ id: 'new', cost: 0, title: '' })
  t.equal(await newConversation(server), 'new')
  t.equal(await forkConversation(server, 'old'), 'new')
  t.strictSame(sent, [
    ['POST', '/session', {}],
    ['POST', '/session/old/fork', {}]
  ])
})

t.test('a conversation that opencode does not have has no history; any other failure is one', async t => {
  const { server, sent } = answering([])
  t.strictSame(await historyOf(server, 'a/b'), [])
  t.strictSame(sent, [['GET', '/session/a%2Fb/message']])
  for (const status of [404, 400]) t.equal(await historyOf(answering(new Refused(status, 'No.')).server, 'c'), undefined)
  await t.rejects(historyOf(answering(new Refused(500, 'Broken.')).server, 'c'), { message: 'Broken.', status: 500 })
  await t.rejects(historyOf(answering(new TypeError('fetch failed')).server, 'c'), { message: 'fetch failed' })
})

t.test('a conversation works unless its server says idle, or nothing', async t => {
  const { server } = answering({ busy: { type: 'busy' }, idle: { type: 'idle' } })
  t.equal(await isIdleNow(server, 'busy'), false)
  t.equal(await isIdleNow(server, 'idle'), true)
  t.equal(await isIdleNow(server, 'other'), true)
})

t.test('what waits for a person is asked in all conversations, and what can be chosen of the server itself', async t => {
  const permission = { id: 'p', sessionID: 'c', permission: 'bash', patterns: [], metadata: {}, always: [] }
  const question = { id: 'q', sessionID: 'c', questions: [] }
  const waiting = await waitingNow(answeringBy({ '/permission': [permission], '/question': [question] }))
  t.match(waiting, { permissions: [{ id: 'p' }], questions: [{ id: 'q' }] })

  const agents = [{ name: 'build' }, { name: 'draw' }]
  const providers = [{ id: 'shop', name: 'Shop', models: { tea: { name: 'Tea' }, ice: { name: 'Ice' } } }]
  const chosen = async (usual: Record<string, string>, config: object) => {
    const told: AgentEvent[] = []
    const answers = { '/agent': agents, '/config/providers': { providers, default: usual }, '/config': config }
    const options = await readOptions(answeringBy(answers), event => told.push(event))
    options.tell()
    const modes = told.find(({ type }) => type === 'modes') as Extract<AgentEvent, { type: 'modes' }>
    const models = told.find(({ type }) => type === 'options') as Extract<AgentEvent, { type: 'options' }>
    return [modes.modes.current, models.models?.current]
  }
  t.strictSame(await chosen({ shop: 'tea' }, {}), ['build', 'shop/tea'])
  t.strictSame(await chosen({ shop: 'tea' }, { default_agent: 'draw', model: 'shop/ice' }), ['draw', 'shop/ice'])
})

t.test('a text is a prompt unless it begins with a command that opencode has', async t => {
  const commands = ['review']
  const chosen = { agent: 'build', model: { providerID: 'shop', modelID: 'tea' }, variant: 'high' }
  const common = { agent: 'build', variant: 'high' }
  const prompt = (text: string) => ['/session/c/prompt_async', { ...common, model: chosen.model, parts: [{ type: 'text', text }, picture] }]
  const command = (words: string) => [
    '/session/c/command',
    { ...common, command: 'review', arguments: words, model: 'shop/tea', parts: [picture] }
  ]
  for (const [text, [path, body]] of [
    ['Look', prompt('Look')],
    ['/unheard of', prompt('/unheard of')],
    ['Please /review', prompt('Please /review')],
    ['/review', command('')],
    ['/review  this\nand that ', command('this\nand that ')]
  ] as const) {
    const { server, sent } = answering(undefined)
    await say(server, { conversation: 'c', text, images: [{ mimeType: 'image/png', bytes: Buffer.from('abc') }], chosen, commands })
    const [method, told, { messageID, ...rest }] = sent[0] as [string, string, { messageID: string }]
    t.match(messageID, /^msg_[0-9a-f]{12}Afield[0-9a-z]{8}$/)
    t.strictSame([method, told, rest], ['POST', path, body], text)
    t.equal(sent.length, 1)
  }
})

t.test('a rejected prompt is a failure; a failing command is reported by opencode itself', async t => {
  const saying = (text: string) => ({ conversation: 'c', text, images: [], chosen: { agent: 'build' }, commands: ['review'] })
  const { server, sent } = answering(new Refused(400, 'No.'))
  await t.rejects(say(server, saying('Look')), { message: 'No.' })
  await say(server, saying('/review'))
  t.match(sent[1]?.[2], { model: undefined, command: 'review' })
})

t.test('a command without a description has none', async t => {
  const { server } = answering([
    { name: 'review', description: 'Look at it' },
    { name: 'odd', description: 5 }
  ])
  t.strictSame(await commandsOf(server), [
    { name: 'review', description: 'Look at it' },
    { name: 'odd', description: undefined }
  ])
})

const picture = { type: 'file', mime: 'image/png', url: 'data:image/png;base64,YWJj' }

/** A server that answers each path like this. */
function answeringBy(answers: Record<string, unknown>): Pick<OpencodeServer, 'get' | 'send'> {
  return { get: async (path, shape) => v.parse(shape, answers[path]), send: async () => undefined }
}

/** A server that answers everything like this. */
function answering(answer: unknown) {
  const sent: unknown[][] = []
  const call = async (...request: unknown[]) => {
    sent.push(request)
    if (answer instanceof Error) throw answer
    return answer
  }
  const server: Pick<OpencodeServer, 'get' | 'send'> = {
    get: async (path, shape) => v.parse(shape, await call('GET', path)),
    send: call
  }
  return { server, sent }
}
