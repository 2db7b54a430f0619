import { RequestError } from '@agentclientprotocol/sdk'
import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import { type OpenedSession, openedSession } from '../../../../lib/wrapper/agents/acp/messages.ts'
import { createOptionChanges, createOptions } from '../../../../lib/wrapper/agents/acp/options.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'

const choices = (...ids: string[]) => ids.map(value => ({ value, name: value.toUpperCase() }))
const named = (...ids: string[]) => ids.map(id => ({ id, name: id.toUpperCase(), description: undefined }))
const select = (id: string, category: string | undefined, currentValue: unknown, options: unknown = choices('low', 'high')) => ({
  id,
  category,
  currentValue,
  options
})
const oldModes = (currentModeId: string) => ({
  currentModeId,
  availableModes: [
    { id: 'ask', name: 'Ask', description: 'First' },
    { id: 'plan', name: 'Plan', description: null }
  ]
})
const oldModels = (currentModelId: string) => ({
  currentModelId,
  availableModels: [
    { modelId: 'm1', name: 'One', description: 'Fast' },
    { modelId: 'm2', name: 'Two' }
  ]
})

t.test('models, reasoning levels and modes are found in every format, with the request that changes each', t => {
  const byConfig = (configId: string) => (value: string) => ({ method: 'session/set_config_option', params: { configId, value } })
  type Kind = 'mode' | 'model' | 'effort'
  const cases: [name: string, opened: object, kind: Kind, options: object | undefined, request?: (id: string) => object][] = [
    [
      'modes of their own',
      { modes: oldModes('plan') },
      'mode',
      {
        current: 'plan',
        available: [
          { id: 'ask', name: 'Ask', description: 'First' },
          { id: 'plan', name: 'Plan', description: undefined }
        ]
      },
      modeId => ({ method: 'session/set_mode', params: { modeId } })
    ],
    [
      'models of their own',
      { models: oldModels('m2') },
      'model',
      {
        current: 'm2',
        available: [
          { id: 'm1', name: 'One', description: 'Fast' },
          { id: 'm2', name: 'Two', description: undefined }
        ]
      },
      modelId => ({ method: 'session/set_model', params: { modelId } })
    ],
    ['models beside options without any', { models: oldModels('m2'), configOptions: [] }, 'model', { current: 'm2' }],
    [
      'models in both formats',
      { models: oldModels('m2'), configOptions: [select('which', 'model', 'low')] },
      'model',
      { current: 'low', available: named('low', 'high') },
      byConfig('which')
    ],
    [
      'modes in both formats',
      { modes: oldModes('plan'), configOptions: [select('how', 'mode', 'low')] },
      'mode',
      { current: 'plan' },
      modeId => ({ method: 'session/set_mode', params: { modeId } })
    ],
    ['a mode as an option', { configOptions: [select('how', 'mode', 'low')] }, 'mode', { current: 'low' }, byConfig('how')],
    [
      'in groups',
      { configOptions: [select('which', 'model', 'b', [{ options: choices('a') }, ...choices('b'), { options: choices('c') }])] },
      'model',
      { current: 'b', available: named('a', 'b', 'c') },
      byConfig('which')
    ],
    ['one that is no choice', { configOptions: [select('which', 'model', true)] }, 'model', undefined],
    ['one without choices', { configOptions: [{ ...select('which', 'model', 'low'), options: undefined }] }, 'model', undefined],
    ['a thought level', { configOptions: [select('x', 'thought_level', 'high')] }, 'effort', { current: 'high' }, byConfig('x')],
    [
      'a thought level after another of its model',
      { configOptions: [select('reasoning', 'model_config', 'low'), select('x', 'thought_level', 'high')] },
      'effort',
      { current: 'high' },
      byConfig('x')
    ],
    ...['my_effort', 'reasoning', 'Thinking', 'thought'].map((id): [string, object, Kind, object, (id: string) => object] => [
      id,
      { configOptions: [select('speed', 'model_config', 'low'), select(id, 'model_config', 'low')] },
      'effort',
      { current: 'low' },
      byConfig(id)
    ]),
    ['one of another category', { configOptions: [select('effort', 'other', 'low')] }, 'effort', undefined],
    ['a broken one', { configOptions: ['broken', { id: 5 }, select('which', 'model', 'low')] }, 'model', { current: 'low' }],
    ['none', {}, 'model', undefined]
  ]
  for (const [name, given, kind, expected, request] of cases) {
    const { options } = opened(given)
    const found = options.of(kind)
    t.match(found, expected, name)
    t.equal(found === undefined, expected === undefined, name)
    const id = found?.available[0]?.id ?? 'low'
    if (request) t.strictSame(options.request(kind, id), request(id), name)
    if (!expected) t.equal(options.request(kind, id), undefined, name)
    t.equal(options.request(kind, 'unheard of'), undefined, name)
  }
  t.end()
})

t.test('each other option is a setting: a switch or a choice; those of an unknown kind are left out', t => {
  const { options, told } = opened({
    configOptions: [
      select('which', 'model', 'low'),
      select('x', 'thought_level', 'low'),
      select('how', 'mode', 'low'),
      { id: 'fast', name: 'Fast', description: 'Costs more.', type: 'boolean', currentValue: false },
      { ...select('tone', undefined, 'low'), type: 'select' },
      { ...select('size', 'model_config', 'high'), name: 'Size' },
      { id: 'odd', type: 'boolean', currentValue: 'true' },
      { ...select('neither', undefined, true), type: 'select' },
      { ...select('number', undefined, 'low'), type: 'slider' },
      { id: 'empty', type: 'select', currentValue: 'low' }
    ]
  })
  options.tell()
  const onOff = [
    { id: 'true', name: 'On', description: undefined },
    { id: 'false', name: 'Off', description: undefined }
  ]
  const settings = [
    { id: 'fast', name: 'Fast', description: 'Costs more.', isSwitch: true, current: 'false', available: onOff },
    { id: 'tone', name: 'tone', description: undefined, isSwitch: false, current: 'low', available: named('low', 'high') },
    { id: 'size', name: 'Size', description: undefined, isSwitch: false, current: 'high', available: named('low', 'high') }
  ]
  t.strictSame(told().slice(1), [{ type: 'settings', settings }])
  t.strictSame(options.chosen, {
    mode: 'low',
    model: 'low',
    effort: 'low',
    settings: [
      ['fast', 'false'],
      ['tone', 'low'],
      ['size', 'high']
    ]
  })
  const set = (params: object) => ({ method: 'session/set_config_option', params })
  t.strictSame(options.settingRequest('fast', 'true'), set({ configId: 'fast', type: 'boolean', value: true }))
  t.strictSame(options.settingRequest('fast', 'false'), set({ configId: 'fast', type: 'boolean', value: false }))
  t.strictSame(options.settingRequest('tone', 'high'), set({ configId: 'tone', value: 'high' }))
  t.equal(options.settingRequest('tone', 'loud'), undefined)
  t.equal(options.settingRequest('which', 'low'), undefined)
  options.noteSetting('tone', 'high')
  options.noteSetting('tone', 'high')
  t.equal(told().length, 3)
  t.match(told()[2], { settings: [{ id: 'fast', current: 'false' }, { id: 'tone', current: 'high' }, { id: 'size' }] })
  t.end()
})

t.test('choices are told from the first time on, whenever they change, and once', t => {
  const { options, told } = opened({ configOptions: [select('which', 'model', 'low')] })
  options.take(taken({ configOptions: [select('which', 'model', 'high')] }))
  t.strictSame(told(), [], 'the conversation is not open yet')
  const models = (current: string) => ({ current, available: named('low', 'high') })
  const tells = (models: object | undefined, efforts?: object) => ({ type: 'options', models, efforts })
  options.tell()
  options.tell()
  t.strictSame(told(), [tells(models('high'))])
  options.note('model', 'high')
  options.note('effort', 'high')
  t.equal(told().length, 1, 'nothing has changed')
  options.note('model', 'low')
  t.ok(options.request('model', 'high'), 'it can be changed again')
  options.take(taken({ configOptions: [select('which', 'model', 'low'), select('x', 'thought_level', 'high')] }))
  t.strictSame(told().slice(1), [tells(models('low')), tells(models('low'), models('high'))])
  options.take(taken({ configOptions: [] }))
  t.strictSame(told().at(-1), tells(models('low')), 'a model may have no reasoning levels')
  options.take(taken({}))
  t.equal(told().length, 4)
  t.end()
})

t.test('an agent without choices is told to have none only after it had some', t => {
  const none = opened({})
  none.options.tell()
  t.strictSame(none.told(), [])
  const { options, told } = opened({ configOptions: [select('x', 'thought_level', 'high')] })
  options.tell()
  options.take(taken({ configOptions: [] }))
  t.strictSame(told().slice(1), [{ type: 'options', models: undefined, efforts: undefined }])
  t.end()
})

t.test('a mode is told when it changed, not when it is first known', t => {
  const { options, told } = opened({ modes: oldModes('ask') })
  options.note('mode', 'ask')
  options.take(taken({ modes: oldModes('ask') }))
  t.strictSame(told(), [])
  options.note('mode', 'plan')
  t.match(told(), [{ type: 'modes', modes: { current: 'plan', available: [{ id: 'ask' }, { id: 'plan' }] } }])
  options.take(taken({ modes: oldModes('ask') }))
  t.match(told()[1], { type: 'modes', modes: { current: 'ask' } })
  t.equal(told().length, 2)
  t.equal(options.of('mode')?.current, 'ask')
  t.end()
})

t.test('a choice counts once the agent accepted it, and its answer may change the others', async t => {
  const { options, told } = opened({ configOptions: [select('which', 'model', 'low'), select('x', 'thought_level', 'low')] })
  options.tell()
  const { changes, asked } = changing(options, [
    { configOptions: [select('which', 'model', 'high'), select('x', 'thought_level', 'only', choices('only'))] },
    new Error('No.'),
    'nothing to read'
  ])
  t.equal(await changes.choose('model', 'high'), true)
  t.match(told().at(-1), { models: { current: 'high' }, efforts: { current: 'only' } })
  t.equal(await changes.choose('model', 'low'), false)
  t.equal(options.of('model')?.current, 'high')
  t.equal(await changes.choose('effort', 'only'), true, 'one that is current is requested too')
  t.equal(await changes.choose('effort', 'low'), false)
  t.equal(await changes.chooseSetting('tone', 'dry'), false)
  t.strictSame(asked(), ['which high', 'which low', 'x only'], 'what it does not offer is not requested')
})

t.test('a choice is requested again once the conversation is open again', async t => {
  const gone = new RequestError(-32002, 'Resource not found')
  const cases: [replies: unknown[], opens: boolean, isSet: boolean, asked: string[]][] = [
    [[gone, {}], true, true, ['tone high', 'open', 'tone high']],
    [[gone, gone], true, false, ['tone high', 'open', 'tone high']],
    [[gone], false, false, ['tone high', 'open']],
    [[new Error('No.')], true, false, ['tone high']],
    [[new RequestError(-32602, 'No such value')], true, false, ['tone high']]
  ]
  for (const [replies, opens, isSet, requests] of cases) {
    const { options } = opened({ configOptions: [select('tone', undefined, 'low')] })
    const { changes, asked } = changing(options, replies, opens)
    t.equal(await changes.chooseSetting('tone', 'high'), isSet)
    t.strictSame(asked(), requests)
    t.strictSame(options.chosen.settings, [['tone', isSet ? 'high' : 'low']])
  }
})

t.test('a conversation is gone if its current mode cannot be requested for that reason', async t => {
  const gone = new RequestError(-32002, 'Resource not found')
  for (const [given, replies, isGone, requests] of [
    [{ modes: oldModes('plan') }, [gone], true, ['plan']],
    [{ modes: oldModes('plan') }, [{}], false, ['plan']],
    [{ modes: oldModes('plan') }, [new Error('No.')], false, ['plan']],
    [{ modes: oldModes('unlisted') }, [gone], false, []],
    [{}, [gone], false, []]
  ] as const) {
    const { changes, asked } = changing(opened(given).options, replies)
    t.equal(await changes.isGone(), isGone)
    t.strictSame(asked(), requests)
  }
})

t.test('what was chosen before is requested again in a new conversation, except the mode', async t => {
  const all = {
    modes: oldModes('plan'),
    configOptions: [select('which', 'model', 'high'), select('x', 'thought_level', 'low'), select('tone', undefined, 'high')]
  }
  const { options } = opened(all)
  const { changes, asked } = changing(options, [])
  await changes.restore(options.chosen)
  t.strictSame(asked(), ['which high', 'x low', 'tone high'])
  const none = changing(opened({}).options, [])
  await none.changes.restore({ mode: 'plan', model: undefined, effort: undefined, settings: [] })
  t.strictSame(none.asked(), [])
})

function opened(given: object) {
  const events: AgentEvent[] = []
  const options = createOptions(event => events.push(event))
  options.take(taken(given))
  return { options, told: () => events }
}

function taken(given: object): OpenedSession {
  return v.parse(openedSession, given)
}

/** An agent that replies this to one request after the other, and then accepts everything. */
function changing(options: ReturnType<typeof createOptions>, replies: readonly unknown[], opens = true) {
  const left = [...replies]
  const asked: string[] = []
  const changes = createOptionChanges({
    options,
    async ask({ params }) {
      asked.push(Object.values(params).join(' '))
      const reply = left.length > 0 ? left.shift() : {}
      if (reply instanceof Error) throw reply
      return reply
    },
    async openAgain() {
      asked.push('open')
      return opens
    }
  })
  return { changes, asked: () => asked }
}
