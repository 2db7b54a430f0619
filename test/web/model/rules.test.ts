import t from 'tap'
import { CallFailed, cryptoReady } from '../../../lib/client/index.ts'
import { rulesOf } from '../../../web/model/rules.ts'
import { machine } from '../kit/machine.ts'

t.before(() => cryptoReady())

type Link = Parameters<typeof rulesOf>[0]

const rule = { on: 'command' as const, pattern: 'npm test', folder: '/work' }
const done = { message: 'done' }

t.test('the rules of a machine are read, changed, paused and tried there', async t => {
  const trial = { looked: 5, passed: 2, entries: [] }
  const { link, asked } = machine<Link>({
    rules: { rules: [{ ...rule, id: 'r1', madeAt: 1, used: 0 }], isPaused: true },
    'rules-set': { ...done, rule: { ...rule, id: 'r1', madeAt: 1, used: 0 } },
    'rules-remove': done,
    'rules-pause': { isPaused: true },
    'rules-try': trial
  })
  const book = rulesOf(link, 'm1')
  t.match(await book.read(), { rules: [{ id: 'r1', pattern: 'npm test' }], isPaused: true })
  await book.set({ ...rule, id: 'r1' }, 'Phone')
  await book.set(rule, undefined)
  await book.remove('r1')
  await book.pause(true)
  t.match(await book.attempt(rule), trial)
  t.same(asked, [
    ['m1:rules', {}],
    ['m1:rules-set', { rule: { ...rule, id: 'r1' }, madeBy: 'Phone' }],
    ['m1:rules-set', { rule }],
    ['m1:rules-remove', { id: 'r1' }],
    ['m1:rules-pause', { isPaused: true }],
    ['m1:rules-try', rule]
  ])
})

t.test('a session that serves the rules is called with its own key, and without a key nobody is', async t => {
  const { link, asked } = machine<Link>({ 'rules-remove': done })
  const { cipherOfMachine } = link
  await rulesOf({ ...link, cipherOfMachine: () => undefined, cipherOf: id => cipherOfMachine(id) as never }, 's1').remove('r1')
  t.same(asked, [['s1:rules-remove', { id: 'r1' }]])
  const keyless = rulesOf({ ...link, cipherOfMachine: () => undefined, cipherOf: () => undefined }, 's1')
  for (const ask of [keyless.read(), keyless.set(rule, undefined), keyless.remove('r1'), keyless.pause(false), keyless.attempt(rule)])
    await t.rejects(ask as Promise<unknown>, CallFailed)
  t.equal(asked.length, 1)
})
