import t from 'tap'
import { sessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import * as v from '../../../../lib/schema.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { openChoices } from '../../../../web/model/session/choices.ts'
import { factsOf } from '../../../../web/model/session/facts.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import type { Item } from '../../../../web/model/transcript/items.ts'

const metadata = (more: object = {}) => v.parse(sessionMetadata, { path: '/a', host: 'a', ...more })

t.test('a mode carried only by messages is sent with the next one, and is not shown as changed if the turn ends without it', t => {
  const about = metadata({ operatingModes: ['ask', 'free'].map(code => ({ code, value: code })), currentOperatingModeCode: 'ask' })
  const facts = (more: object = {}) => {
    // Only the fields that the facts are made from.
    const session = { id: 's', metadata: { ...about, ...more } } as unknown as SessionView
    return factsOf(session, undefined, false)
  }
  const live = {} as unknown as Live
  const begin = () => {
    const choices = openChoices({ id: 's', live, cipher: () => t.fail('nothing is asked') as never, facts: () => facts() })
    void choices.choose('mode', 'free')
    t.same(choices.wishes(), { permissionMode: 'free' })
    choices.noteSaid('local')
    return choices
  }
  const at = (key: string, more: object) => ({ key, seq: 1, at: 1, ...more }) as unknown as Item
  const mine = at('m', { type: 'mine', localId: 'local' })
  const answer = at('p', { type: 'prose', text: 'done' })

  const ignored = begin()
  ignored.noteTurns({ items: [answer, mine] }, false)
  ignored.noteTurns({ items: [mine, answer] }, true)
  t.equal(ignored.asked.value.mode?.state, 'rides', 'it may still come')
  ignored.noteTurns({ items: [mine, answer] }, false)
  t.equal(ignored.asked.value.mode?.state, 'failed')
  t.same(ignored.wishes(), {})

  const obeyed = begin()
  obeyed.noteFacts(facts({ currentOperatingModeCode: 'free' }))
  obeyed.noteTurns({ items: [mine, answer] }, false)
  t.same(obeyed.asked.value, {})
  t.end()
})
