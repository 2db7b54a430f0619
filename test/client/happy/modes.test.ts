import t from 'tap'
import { happyModeOf, hasFullAuto, modesOfHappy, saidMode } from '../../../lib/client/happy/modes.ts'
import { sessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import * as v from '../../../lib/schema.ts'

const metadata = (more: object = {}) => v.parse(sessionMetadata, { path: '/a', host: 'a', ...more })
const codes = (more: object) => modesOfHappy(metadata(more))?.codes

t.test('an agent driven by Happy has the modes that its wrapper obeys; modes reported by an agent win', t => {
  t.same(codes({ flavor: 'claude' }), ['default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'])
  t.same(codes({}), codes({ flavor: 'claude' }), 'the oldest say no flavor')
  t.same(codes({ flavor: 'codex' }), ['default', 'auto', 'read-only', 'safe-yolo', 'yolo'])
  t.same(codes({ flavor: 'gemini' }), ['default', 'safe-yolo', 'yolo'])
  t.same(codes({ flavor: 'agy' }), ['default', 'yolo'])
  t.equal(codes({ flavor: 'openclaw' }), undefined)
  t.equal(codes({ flavor: 'gemini', operatingModes: [{ code: 'own', value: 'Own' }] }), undefined)
  t.equal(codes({ flavor: 'claude', methods: [] }), undefined, 'ours tells its own')
  t.end()
})

t.test('the last mode picked applies, else the initial one', t => {
  const mode = (more: object) => modesOfHappy(metadata(more))?.mode
  t.equal(mode({}), 'default')
  t.equal(mode({ dangerouslySkipPermissions: true }), 'bypassPermissions')
  t.equal(mode({ permissionMode: 'plan', dangerouslySkipPermissions: true }), 'plan')
  t.end()
})

t.test('messages carry the picked mode, in the names that the wrapper obeys', t => {
  t.equal(saidMode(metadata()), undefined, 'nobody picked one')
  t.equal(saidMode(metadata({ permissionMode: '' })), undefined)
  t.equal(saidMode(undefined), undefined, 'nothing is known yet')
  t.equal(saidMode(metadata({ permissionMode: 'acceptEdits' })), 'acceptEdits')
  t.equal(saidMode(metadata({ permissionMode: 'default' })), 'read-only', 'or it would stay with never asking')
  t.equal(saidMode(metadata({ permissionMode: 'default', flavor: 'codex' })), 'default')
  t.equal(saidMode(metadata({ permissionMode: 'plan', operatingModes: [] })), undefined)
  t.end()
})

t.test('the never-ask mode is remembered with the session until its agent ends', t => {
  t.ok(hasFullAuto(metadata({ permissionMode: 'bypassPermissions' })))
  t.ok(hasFullAuto(metadata({ permissionMode: 'yolo', flavor: 'codex' })))
  t.notOk(hasFullAuto(metadata({ permissionMode: 'acceptEdits' })))
  t.notOk(hasFullAuto(metadata({ permissionMode: 'bypassPermissions', methods: [] })), 'ours begins anew by itself')
  t.notOk(hasFullAuto(metadata()))
  t.end()
})

t.test("a session starts in the agent's mode for the requested one, or does not start", t => {
  const modes = ['default', 'acceptEdits', 'plan', 'bypassPermissions'] as const
  const all = (agent: string) => modes.map(mode => happyModeOf(agent, mode))
  t.same(all('claude'), modes)
  t.same(all('codex'), ['default', 'auto', 'read-only', 'yolo'])
  t.same(all('gemini'), ['default', undefined, undefined, 'yolo'])
  t.same(all('openclaw'), ['default', undefined, undefined, undefined])
  t.end()
})
