import t from 'tap'
import { createChoices } from '../../../lib/wrapper/session/choices.ts'
import { turn } from '../../client/link/fake-link.ts'

const models = {
  current: 'small',
  available: [
    { id: 'small', name: 'Small', description: undefined },
    { id: 'large', name: 'Large', description: undefined }
  ]
}

t.test('going back to the current model before the agent switched cancels the switch', async t => {
  const set: string[] = []
  const choices = createChoices({
    agent: {
      async setModel(id) {
        set.push(id)
        return 'later'
      }
    },
    publish() {},
    async tell() {}
  })
  choices.follow({ models, efforts: undefined })
  for (const model of ['large', 'large', 'small', 'small']) await choices.apply({ model })
  t.strictSame(set, ['large', 'small'])
})

t.test('a choice is applied once, and the first one again by null, or by "default" where that is no model of the agent', async t => {
  const set: string[] = []
  const told: string[] = []
  const choices = createChoices({
    agent: {
      async setModel(id) {
        set.push(`model ${id}`)
        return id !== 'huge'
      }
    },
    publish() {},
    tell: async sentence => void told.push(sentence)
  })
  choices.follow({ models, efforts: undefined })
  for (const model of ['large', 'small', 'default', null, undefined]) await choices.apply({ model })
  t.strictSame(set.splice(0), ['model large'], 'the current one is not set again')
  choices.follow({ models: { ...models, current: 'large' }, efforts: undefined })
  for (const model of [null, 'default']) await choices.apply({ model })
  t.strictSame(set.splice(0), ['model small', 'model small'], 'until the agent reports it')
  choices.follow({
    models: { current: 'large', available: [{ id: 'default', name: 'Default', description: undefined }] },
    efforts: undefined
  })
  await choices.apply({ model: 'default' })
  t.strictSame(set.splice(0), ['model default'])

  await choices.apply({ model: 'huge', effort: 'high' })
  t.strictSame(told, ['The agent has no model huge; nothing was changed.', 'The agent has no effort level high; nothing was changed.'])
  await t.rejects(choices.choose('model', 'huge'), { message: 'The agent has no such model.' })
  await t.rejects(choices.choose('effort', 'high'), { message: 'The agent has no such effort level.' })
})

t.test('a choice of either kind goes to the agent under its own name, and one applied later is told to the person', async t => {
  const set: string[] = []
  let told = Promise.withResolvers<void>()
  const choices = createChoices({
    agent: {
      setModel: async id => set.push(`model ${id}`) > 0,
      async setEffort(id) {
        set.push(`effort ${id}`)
        return id === 'high' ? 'later' : id !== 'none'
      }
    },
    publish() {},
    tell: () => told.promise
  })
  choices.follow({ models, efforts: models })
  await choices.choose('model', 'large')
  await choices.choose('effort', 'low')
  await t.rejects(choices.choose('effort', 'high'), { message: /its effort level is chosen there/ })
  t.strictSame(set.splice(0), ['model large', 'effort low', 'effort high'])

  for (const effort of ['high', 'none']) {
    told = Promise.withResolvers()
    let isApplied = false
    const applied = choices.apply({ effort }).then(() => {
      isApplied = true
    })
    await turn()
    t.notOk(isApplied, 'the sentence is on its way')
    told.resolve()
    await applied
  }
  choices.follow({ models, efforts: { ...models, current: 'large' } })
  for (const effort of ['high', null]) await choices.apply({ effort })
  t.strictSame(set, ['effort high', 'effort none', 'effort high', 'effort small'], 'a wish lasts until the agent offers anew')
})

t.test('an agent that offers no models any more publishes none, and a wish for its current one is passed on', async t => {
  const set: string[] = []
  let metadata: object = {}
  const choices = createChoices({
    agent: { setModel: async id => set.push(id) > 0 },
    publish: change => {
      metadata = change({ path: '', host: '' })
    },
    async tell() {}
  })
  const [small, large] = models.available
  const efforts = { current: 'small', available: [small, { ...large, description: 'all of it' }] as typeof models.available }
  choices.follow({ models, efforts })
  t.match(metadata, {
    currentModelCode: 'small',
    currentThoughtLevelCode: 'small',
    models: [{ code: 'small', value: 'Small', description: null }, { description: null }],
    thoughtLevels: [{ code: 'small' }, { code: 'large', value: 'Large', description: 'all of it' }]
  })
  choices.follow({ models: undefined, efforts: undefined })
  t.match(metadata, { models: undefined, currentModelCode: undefined, thoughtLevels: undefined, currentThoughtLevelCode: undefined })
  await choices.apply({ model: 'small' })
  t.strictSame(set, ['small'])
})
