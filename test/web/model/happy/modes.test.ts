import t from 'tap'
import { sessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { happyModeOf, hasFullAuto, saidMode } from '../../../../web/model/happy/codes.ts'
import { happyModes } from '../../../../web/model/happy/modes.ts'
import { openChoices } from '../../../../web/model/session/choices.ts'
import { factsOf } from '../../../../web/model/session/facts.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import type { Item } from '../../../../web/model/transcript/items.ts'

const metadata = (more: object = {}) => sessionMetadata.parse({ path: '/a', host: 'a', ...more })
const codes = (more: object) => happyModes(metadata(more))?.modes.map(({ code }) => code)

t.test('an agent that Happy drives itself has the modes that its wrapper obeys; what an agent tells stands', t => {
  t.same(codes({ flavor: 'claude' }), ['default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'])
  t.same(codes({}), codes({ flavor: 'claude' }), 'the oldest say no flavor')
  t.same(codes({ flavor: 'codex' }), ['default', 'auto', 'read-only', 'safe-yolo', 'yolo'])
  t.same(codes({ flavor: 'gemini' }), ['default', 'safe-yolo', 'yolo'])
  t.equal(codes({ flavor: 'openclaw' }), undefined)
  t.equal(codes({ flavor: 'gemini', operatingModes: [{ code: 'own', value: 'Own' }] }), undefined)
  t.equal(codes({ flavor: 'claude', methods: [] }), undefined, 'ours tells its own')
  t.end()
})

t.test('the mode that was picked last holds, else the one it began with', t => {
  const mode = (more: object) => happyModes(metadata(more))?.mode
  t.equal(mode({}), 'default')
  t.equal(mode({ dangerouslySkipPermissions: true }), 'bypassPermissions')
  t.equal(mode({ permissionMode: 'plan', dangerouslySkipPermissions: true }), 'plan')
  t.end()
})

t.test('messages say the mode that was picked, in words that the wrapper obeys', t => {
  t.equal(saidMode(metadata()), undefined, 'nobody picked one')
  t.equal(saidMode(metadata({ permissionMode: 'acceptEdits' })), 'acceptEdits')
  t.equal(saidMode(metadata({ permissionMode: 'default' })), 'read-only', 'or it would stay with never asking')
  t.equal(saidMode(metadata({ permissionMode: 'default', flavor: 'codex' })), 'default')
  t.equal(saidMode(metadata({ permissionMode: 'plan', operatingModes: [] })), undefined)
  t.end()
})

t.test('the mode that never asks is known where it is kept with the session, to end with its agent', t => {
  t.ok(hasFullAuto(metadata({ permissionMode: 'bypassPermissions' })))
  t.ok(hasFullAuto(metadata({ permissionMode: 'yolo', flavor: 'codex' })))
  t.notOk(hasFullAuto(metadata({ permissionMode: 'acceptEdits' })))
  t.notOk(hasFullAuto(metadata({ permissionMode: 'bypassPermissions', methods: [] })), 'ours begins anew by itself')
  t.notOk(hasFullAuto(metadata()))
  t.end()
})

t.test('a session begins in the mode of the agent that means what was asked for, or not at all', t => {
  const modes = ['default', 'acceptEdits', 'plan', 'bypassPermissions'] as const
  const all = (agent: string) => modes.map(mode => happyModeOf(agent, mode))
  t.same(all('claude'), modes)
  t.same(all('codex'), ['default', 'auto', 'read-only', 'yolo'])
  t.same(all('gemini'), ['default', undefined, undefined, 'yolo'])
  t.same(all('openclaw'), ['default', undefined, undefined, undefined])
  t.end()
})

t.test('a mode that only messages carry leaves with the next one, and is not changed if the turn ends without it', t => {
  const about = metadata({ operatingModes: ['ask', 'free'].map(code => ({ code, value: code })), currentOperatingModeCode: 'ask' })
  const facts = (more: object = {}) => {
    // No more than the facts are made of.
    const session = { id: 's', metadata: { ...about, ...more } } as unknown as SessionView
    return factsOf(session, undefined)
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
