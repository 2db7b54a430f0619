import t from 'tap'
import { createChoices } from '../../../lib/wrapper/session/choices.ts'

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
  choices.follow({ models, efforts: models })
  t.match(metadata, {
    currentModelCode: 'small',
    currentThoughtLevelCode: 'small',
    models: [{ code: 'small', value: 'Small', description: null }, {}]
  })
  choices.follow({ models: undefined, efforts: undefined })
  t.match(metadata, { models: undefined, currentModelCode: undefined, thoughtLevels: undefined, currentThoughtLevelCode: undefined })
  await choices.apply({ model: 'small' })
  t.strictSame(set, ['small'])
})
