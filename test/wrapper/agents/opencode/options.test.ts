import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createOptions } from '../../../../lib/wrapper/agents/opencode/options.ts'
import { agents, message, providers } from '../../../../lib/wrapper/agents/opencode/shapes.ts'

const ownAgents = [
  { name: 'build', description: 'Works' },
  { name: 'plan', mode: 'all' },
  { name: 'helper', mode: 'subagent' },
  { name: 'title', hidden: true }
]
const shop = {
  id: 'shop',
  name: 'Shop',
  models: { tea: { name: 'Tea', limit: { context: 100 }, variants: { high: {}, low: {} } }, ice: {} }
}

t.test('its agents are modes, and one more that edits freely', t => {
  const { options, told } = opened({})
  options.tell()
  t.strictSame(told, [
    {
      type: 'modes',
      modes: {
        current: 'build',
        available: [
          { id: 'build', name: 'Build', description: 'Works' },
          { id: 'plan', name: 'Plan', description: undefined },
          { id: 'acceptEdits', name: 'Edit freely', description: 'As build, without a question before each edit.' }
        ]
      }
    },
    {
      type: 'options',
      models: {
        current: 'shop/tea',
        available: [
          { id: 'shop/tea', name: 'Tea', description: 'Shop' },
          { id: 'shop/ice', name: 'shop/ice', description: 'Shop' }
        ]
      },
      efforts: {
        current: 'default',
        available: ['default', 'high', 'low'].map(id => ({ id, name: id, description: undefined }))
      }
    }
  ])
  t.end()
})

t.test('it begins with the configured agent, otherwise build, otherwise its first', t => {
  const only = [{ name: 'poet' }, { name: 'cook' }]
  for (const [about, agent] of [
    [{ first: 'plan' }, 'plan'],
    [{ first: 'helper' }, 'build'],
    [{}, 'build'],
    [{ agents: only }, 'poet'],
    [{ agents: only, first: 'cook' }, 'cook'],
    [{ agents: [] }, undefined]
  ] as const) {
    const { options } = opened(about)
    t.strictSame(options.chosen, { agent: agent ?? 'build' })
    t.equal(options.setMode('acceptEdits'), true)
    t.equal(options.editsFreely, true)
    t.strictSame(options.chosen, { agent: agent ?? 'build' }, 'the one that edits freely is the same')
    t.equal(options.setMode('default'), agent !== undefined)
  }
  t.end()
})

t.test('a mode is reported once; one that is not there is reported at the beginning', t => {
  const { options, told } = opened({})
  t.equal(options.setMode('unheard of'), false)
  t.equal(options.setMode('build'), true)
  t.strictSame(told, [])
  options.beginIn('plan')
  options.beginIn('plan')
  options.beginIn(undefined)
  t.match(told, [{ type: 'modes', modes: { current: 'plan' } }])
  options.beginIn('unheard of')
  t.strictSame(told.slice(1), [{ type: 'notice', text: 'opencode has no mode “unheard of”; it only plans.' }])
  t.end()
})

t.test('a chosen model and its reasoning level are part of each prompt', t => {
  const { options, told } = opened({})
  t.strictSame(options.chosen, { agent: 'build' }, 'opencode itself knows best')
  t.equal(options.setModel('shop/unheard of'), false)
  t.equal(options.setEffort('unheard of'), false)
  t.equal(options.setModel('shop/tea'), true)
  t.strictSame(told, [], 'it was set already')
  const tea = { providerID: 'shop', modelID: 'tea' }
  t.strictSame(options.chosen, { agent: 'build', model: tea })
  t.equal(options.setEffort('high'), true)
  t.match(told, [{ type: 'options', efforts: { current: 'high' } }])
  t.strictSame(options.chosen, { agent: 'build', model: tea, variant: 'high' })
  t.equal(options.setModel('shop/tea'), true)
  t.strictSame(options.chosen, { agent: 'build', model: tea, variant: 'high' })
  t.equal(options.setEffort('default'), true)
  t.strictSame(options.chosen, { agent: 'build', model: tea })
  options.setEffort('low')
  t.equal(options.setModel('shop/ice'), true)
  t.strictSame(options.chosen, { agent: 'build', model: { providerID: 'shop', modelID: 'ice' } })
  t.match(told.at(-1), { models: { current: 'shop/ice' }, efforts: undefined })
  t.equal(options.setEffort('default'), false, 'this model has none')
  t.end()
})

t.test('what a person chose at the screen applies here too', t => {
  const { options, told } = opened({})
  const written = (about: object) =>
    options.follow(v.parse(message, { id: 'm', sessionID: 's', role: 'user', time: { created: 1 }, ...about }))
  written({})
  written({ agent: 'build' })
  written({ agent: 'helper' })
  for (const name of ['safe-yolo', 'default']) written({ agent: name })
  t.strictSame(told, [], 'an agent that cannot be chosen is no wish for a mode')
  t.equal(options.editsFreely, false)
  options.setMode('acceptEdits')
  written({ agent: 'build' })
  t.equal(options.editsFreely, true, 'for opencode that is its own agent')
  written({ agent: 'plan', model: { providerID: 'shop', modelID: 'ice' } })
  t.strictSame(options.chosen, { agent: 'plan', model: { providerID: 'shop', modelID: 'ice' } })
  t.end()
})

t.test('the size of a model is known as far as opencode reports it', t => {
  const { options } = opened({})
  t.equal(options.roomOf({ providerID: 'shop', modelID: 'tea' }), 100)
  t.equal(options.roomOf({ providerID: 'shop', modelID: 'ice' }), undefined)
  t.equal(options.roomOf({ providerID: 'other', modelID: 'tea' }), undefined)
  t.end()
})

t.test('without a known model none is shown, and without any model there are no options', t => {
  const unknown = opened({ model: 'shop/unheard of' })
  unknown.options.tell()
  t.strictSame(unknown.told.slice(1), [{ type: 'options', models: undefined, efforts: undefined }])
  const none = opened({ providers: [] })
  none.options.tell()
  t.strictSame(
    none.told.map(({ type }) => type),
    ['modes']
  )
  t.end()
})

interface About {
  agents?: readonly object[]
  providers?: readonly object[]
  first?: string
  model?: string
}

function opened(about: About) {
  const told: AgentEvent[] = []
  const options = createOptions({
    agents: v.parse(agents, about.agents ?? ownAgents),
    providers: v.parse(providers, { default: {}, providers: about.providers ?? [shop] }),
    first: about.first,
    model: about.model ?? 'shop/tea',
    emit: event => told.push(event)
  })
  return { options, told }
}
