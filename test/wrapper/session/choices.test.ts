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
