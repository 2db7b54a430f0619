import t from 'tap'
import { chooseMode, findMode, noSuchMode, resumedMode } from '../../../lib/wrapper/agents/modes.ts'

const modes = (current: string, ...others: string[]) => ({
  current,
  available: [current, ...others].map(id => ({ id, name: id.toUpperCase(), description: undefined }))
})

t.test('an agent begins in the requested mode, otherwise in one that asks', async t => {
  const cases: [current: string, others: string[], wish: string | undefined, chosen: string | undefined][] = [
    ['auto', ['default', 'plan'], 'plan', 'plan'],
    ['auto', ['default', 'plan'], undefined, 'default'],
    ['auto', ['default', 'plan'], 'unheard of', 'default'],
    ['auto', ['ask', 'default'], undefined, 'default'],
    ['auto', ['plan'], undefined, 'plan'],
    ['auto', ['poet'], undefined, undefined],
    ['yolo', ['poet'], undefined, undefined],
    ['full-access', ['plan'], undefined, 'plan'],
    ['poet', ['plan'], undefined, 'poet'],
    ['poet', ['auto'], 'unheard of', 'poet']
  ]
  for (const [current, others, wish, chosen] of cases) t.equal(chooseMode(modes(current, ...others), wish), chosen, `${current} ${wish}`)
})

t.test('a mode is found by its id, in any spelling, or by a name for modes of any agent', async t => {
  const available = modes('autoEdit', 'read-only', 'full-access')
  for (const [wish, found] of [
    ['autoEdit', 'autoEdit'],
    ['AUTO_EDIT', 'autoEdit'],
    ['readOnly', 'read-only'],
    ['acceptEdits', 'autoEdit'],
    ['plan', 'read-only'],
    ['yolo', 'full-access'],
    ['bypassPermissions', 'full-access'],
    ['unheard of', undefined],
    ['constructor', undefined]
  ] as const)
    t.equal(findMode(available, wish), found, wish)
})

t.test('a person who asked for a mode that is not there learns how the agent works instead', async t => {
  const none = 'Poet has no mode “Full auto”;'
  t.equal(noSuchMode('Poet', modes('default'), 'yolo'), `${none} it asks first.`)
  t.equal(noSuchMode('Poet', modes('build'), 'yolo'), `${none} it asks first.`)
  t.equal(noSuchMode('Poet', modes('workspace-write'), 'yolo'), `${none} it asks first.`)
  t.equal(noSuchMode('Poet', modes('plan'), 'yolo'), `${none} it only plans.`)
  t.equal(noSuchMode('Poet', modes('other', 'rhyme'), 'yolo'), `${none} it is in “OTHER”.`)
  t.equal(noSuchMode('Poet', { ...modes('rhyme'), current: 'lost' }, 'yolo'), `${none} it is in “lost”.`)
  t.equal(noSuchMode('Poet', undefined, 'yolo'), `${none} it offers no modes.`)
  t.equal(noSuchMode('Poet', modes('plan'), 'safe-yolo'), 'Poet has no mode “Edit freely”; it only plans.')
  t.equal(noSuchMode('Poet', modes('plan'), 'sonnet'), 'Poet has no mode “sonnet”; it only plans.')
  for (const wish of [undefined, 'default', 'build', 'plan', 'read-only'])
    t.equal(noSuchMode('Poet', modes('plan'), wish), undefined, String(wish))
})

t.test('only an agent that planned continues so in another process', async t => {
  for (const mode of ['plan', 'read-only']) t.equal(resumedMode(mode), mode)
  for (const mode of ['bypassPermissions', 'default', undefined]) t.equal(resumedMode(mode), undefined)
})
