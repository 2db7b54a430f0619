import { mock } from 'node:test'
import t from 'tap'
import { cryptoReady, Unreachable } from '../../../../lib/client/index.ts'
import { sessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import * as v from '../../../../lib/schema.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { endFullAuto, openChoices, settingName } from '../../../../web/model/session/choices.ts'
import { factsOf, type SessionFacts } from '../../../../web/model/session/facts.ts'
import { changeMetadata } from '../../../../web/model/session/metadata.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import type { Item } from '../../../../web/model/transcript/items.ts'
import { turn } from '../../../client/link/fake-link.ts'
import { machine } from '../../kit/machine.ts'

t.before(() => cryptoReady())

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

/** An ended or running session `s1`, its calls, and the metadata that the server has of it. */
function device(results: Record<string, unknown>, about: object = {}) {
  const { link, asked, state } = machine<Pick<Live, 'socket' | 'cipherOfMachine'>>(results)
  const cipher = link.cipherOfMachine('m1')
  if (!cipher) throw new Error('It has a key.')
  const cell = { metadata: cipher.seal(metadata(about)), metadataVersion: 3 }
  const rows: unknown[] = []
  const written: unknown[] = []
  const refuses = { writes: false }
  const socket = {
    onState: () => () => {},
    async request(event: string, body: { method: string; params: string; metadata: string; expectedVersion: number }) {
      if (event === 'rpc-call') return link.socket.request('rpc-call', body)
      t.equal(event, 'update-metadata')
      if (refuses.writes) return { result: 'error', status: 403, message: 'no' }
      written.push([cipher.open(body.metadata), body.expectedVersion])
      return { result: 'success', version: body.expectedVersion + 1 }
    }
  }
  const feed = { sessions: new Map([['s1', { id: 's1', ...cell }]]), take: (row: unknown) => rows.push(row) }
  const live = { socket, feed, cipherOf: link.cipherOfMachine } as unknown as Live
  const facts = (more: Partial<SessionFacts> = {}) => ({ settings: [], ...more }) as unknown as SessionFacts
  const now = { facts: facts() as SessionFacts | undefined }
  const choices = openChoices({ id: 's1', live, cipher: () => cipher, facts: () => now.facts })
  return { choices, asked, state, now, facts, live, rows, written, refuses, cipher }
}

t.test('each choice is asked for by its own method, and failed if the wrapper refuses it', async t => {
  const ok = { mode: 'x', model: 'x', effort: 'x', denyAfterMinutes: 5, value: 'x' }
  const results: Record<string, unknown> = Object.fromEntries(
    ['setMode', 'setModel', 'setEffort', 'setUnanswered', 'setSetting'].map(name => [name, ok])
  )
  const { choices, asked, now, facts } = device(results)
  now.facts = facts({ methods: Object.keys(results) })
  await choices.choose('mode', 'ask')
  await choices.choose('model', 'fast')
  await choices.choose('effort', 'low')
  await choices.choose('unanswered', '5')
  await choices.choose('unanswered', 'null')
  await choices.choose(settingName('tone'), 'dry')
  t.same(asked, [
    ['s1:setMode', { mode: 'ask' }],
    ['s1:setModel', { model: 'fast' }],
    ['s1:setEffort', { effort: 'low' }],
    ['s1:setUnanswered', { denyAfterMinutes: 5 }],
    ['s1:setUnanswered', { denyAfterMinutes: null }],
    ['s1:setSetting', { setting: 'tone', value: 'dry' }]
  ])
  const asking = (code: string) => ({ code, state: 'asking' })
  const [mode, model, effort, unanswered] = ['ask', 'fast', 'low', 'null'].map(asking)
  t.same(choices.asked.value, { mode, model, effort, unanswered, 'setting tone': asking('dry') }, 'until the session reports them')
  t.same(choices.wishes(), {}, 'they need no message')

  results['setModel'] = { error: 'no such model' }
  const late = Promise.withResolvers<object>()
  results['setEffort'] = () => late.promise
  await choices.choose('model', 'other')
  const first = choices.choose('effort', 'high')
  results['setEffort'] = ok
  await choices.choose('effort', 'max')
  late.resolve({ error: 'no' })
  await first
  t.same(choices.asked.value.model, { code: 'other', state: 'failed' })
  t.same(choices.asked.value.effort, asking('max'), 'a refused choice that was replaced is forgotten')

  const said: Partial<SessionFacts> = { mode: 'ask', model: 'fast', effort: 'max', unanswered: 'null' }
  choices.noteFacts(undefined)
  choices.noteFacts({ ...facts(said), settings: [{ id: 'tone', current: 'dry' }] } as unknown as SessionFacts)
  t.same(choices.asked.value, { model: { code: 'other', state: 'failed' } }, 'what now holds is no longer asked for')
})

t.test('what the wrapper takes only with a message goes with each until it holds', async t => {
  const { choices, asked, now, facts } = device({})
  now.facts = facts({ methods: ['setMode'], saysMode: 'plan' })
  t.same(choices.wishes(), { permissionMode: 'plan' }, 'the stored mode of an existing wrapper')
  await choices.choose('model', 'fast')
  await choices.choose('effort', 'low')
  t.same(asked, [])
  t.same(choices.asked.value, { model: { code: 'fast', state: 'rides' }, effort: { code: 'low', state: 'rides' } })
  t.same(choices.wishes(), { permissionMode: 'plan', model: 'fast', effort: 'low' })
  choices.noteSaid('l1')
  t.same(choices.asked.value.model, { code: 'fast', state: 'rides', saidIn: 'l1' })
  choices.noteFacts(facts({ model: 'fast', effort: 'max' }))
  t.same(choices.wishes(), { permissionMode: 'plan', effort: 'low' })
  now.facts = facts()
  await choices.choose('mode', 'ask')
  t.same(choices.wishes(), { permissionMode: 'ask', effort: 'low' })
  now.facts = undefined
  t.same(choices.wishes(), { permissionMode: 'ask', effort: 'low' })
  const mine = { type: 'mine', localId: 'l1' } as Item
  choices.noteTurns({ items: [mine, mine] }, false)
  t.match(choices.asked.value, { effort: { state: 'rides' }, mode: { state: 'rides' } }, 'no agent has answered yet')
  choices.noteTurns({ items: [{ type: 'prose' } as Item] }, false)
  t.match(choices.asked.value, { effort: { state: 'rides' } })
  choices.noteTurns({ items: [mine, { type: 'prose' } as Item] }, false)
  t.same(choices.asked.value, { effort: { code: 'low', state: 'failed' }, mode: { code: 'ask', state: 'rides' } }, 'only what was said')
})

t.test('the mode of an existing wrapper is stored with the session, next to what others stored', async t => {
  const { choices, now, facts, rows, written, refuses, cipher, state } = device({}, { name: 'Pears' })
  now.facts = facts({ keepsMode: true })
  await choices.choose('mode', 'plan')
  t.match(written, [[{ ok: true, value: { path: '/a', name: 'Pears', permissionMode: 'plan' } }, 3]])
  const [taken] = rows as { session: { id: string; metadata: string; metadataVersion: number } }[]
  t.match(taken?.session, { id: 's1', metadataVersion: 4 }, 'as known here from now on')
  t.match(cipher.open(taken?.session.metadata ?? ''), { value: { permissionMode: 'plan' } })
  t.same(choices.asked.value.mode, { code: 'plan', state: 'asking' })
  refuses.writes = true
  await choices.choose('mode', 'yolo')
  t.same(choices.asked.value.mode, { code: 'yolo', state: 'failed' })
  t.equal(rows.length, 1)
  refuses.writes = false
  state.hasKey = false
  await choices.choose('mode', 'auto')
  t.same(choices.asked.value.mode, { code: 'auto', state: 'failed' }, 'no key opens it')
  t.equal(written.length, 1)
})

t.test('full auto of an existing wrapper ends before its session is resumed', async t => {
  const { live, written } = device({})
  await endFullAuto(live, 's1', undefined)
  await endFullAuto(live, 's1', null)
  await endFullAuto(live, 's1', metadata({ permissionMode: 'plan' }))
  t.same(written, [])
  await endFullAuto(live, 's1', metadata({ permissionMode: 'yolo' }))
  t.match(written, [[{ value: { permissionMode: 'default' } }, 3]])
  await t.rejects(endFullAuto(live, 's9', metadata({ permissionMode: 'yolo' })), { message: 'This device cannot open the session.' })
})

t.test('metadata that cannot be written in time is not', async t => {
  const { live } = device({})
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const hangs = { ...live, socket: { ...live.socket, request: () => Promise.reject(new Unreachable('network')) } } as unknown as Live
  const writing = changeMetadata(hangs, 's1', about => ({ ...about, name: 'Pears' }))
  const failed = writing.catch((error: Error) => error.message)
  let isOver = false
  void failed.then(() => {
    isOver = true
  })
  await turn()
  mock.timers.tick(14_999)
  await turn()
  t.equal(isOver, false)
  mock.timers.tick(1)
  t.equal(await failed, 'the cell was closed')
})
