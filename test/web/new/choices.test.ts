import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { cryptoReady } from '../../../lib/client/index.ts'
import { noteLink } from '../../../web/core/connection.ts'
import type { Live } from '../../../web/model/account/live.ts'
import { updateHome } from '../../../web/model/home.ts'
import type { Choices } from '../../../web/model/machine-choices.ts'
import { folderToBegin, isAllowed, recentOf, useChoices, useFolder } from '../../../web/new/choices.ts'
import { lastChoices } from '../../../web/new/last-choices.ts'
import { inComponent } from '../kit/in-component.ts'
import { machine } from '../kit/machine.ts'
import { studio } from '../stories/app/world.ts'

const work = { path: '/work', branch: 'main', dirty: 2 }
const choices: Choices = { agents: [], recentFolders: ['/work', '/home/mira/notes'], folders: [work], home: '/home/mira' }

t.before(() => cryptoReady())
t.beforeEach(() => noteLink({ socket: 'live', feed: 'live' }))

/** Someone starts a session on a machine that gives these answers. */
function start(t: Test, answers: Record<string, unknown>, of = studio) {
  const { link, asked } = machine<Live>(answers)
  const given = { machine: of, attempt: 0, path: undefined as string | undefined, choices: choices as Choices | undefined }
  const known = inComponent(t, () => useChoices(link, given.machine, given.attempt))
  const folder = inComponent(t, () => useFolder(link, given.machine, given.choices, given.path))
  const change = (next: Partial<typeof given>) => {
    Object.assign(given, next)
    known.again()
    folder.again()
  }
  // The storage works on one entry after the other: what was begun before these is done when they are.
  const settle = async () => {
    for (const component of [known, folder])
      await component.act(async () => {
        for (let round = 0; round < 3; round++) await lastChoices(given.machine.id).finally(() => new Promise(setImmediate))
      })
  }
  return { asked, known: () => known.latest, folder: () => folder.latest, change, settle }
}

t.test('a machine that can be asked says its choices, which are kept for while it cannot', async t => {
  const { asked, known, change, settle } = start(t, { choices })
  t.equal(known(), undefined)
  await settle()
  t.match(known(), { type: 'choices', choices })
  t.match(await lastChoices('m1'), choices)
  change({ machine: { ...studio, isActive: false, daemonState: null } })
  t.equal(known(), undefined, 'these may be others')
  await settle()
  t.match(known(), { type: 'choices', choices })
  t.equal(asked.length, 1)
  change({ machine: { ...studio, id: 'm9', isActive: false, daemonState: null } })
  await settle()
  t.match(known(), { type: 'choices', choices: { home: '~' } }, 'guessed for one that may be of Happy')
  const ours = { ...studio, id: 'm8', isActive: false, daemonState: null }
  updateHome({ type: 'machine', machine: ours })
  change({ machine: ours })
  await settle()
  t.same(known(), { type: 'unknown' })
})

t.test('a machine is asked again on request, and not before the connection is back', async t => {
  const answers: Record<string, unknown> = { choices: { error: 'no room' } }
  const { asked, known, change, settle } = start(t, answers)
  await settle()
  t.match(known(), { type: 'failed', says: 'no room' })
  answers['choices'] = choices
  change({ attempt: 1 })
  await settle()
  t.match(known(), { type: 'choices' })
  noteLink({ socket: 'down' })
  change({ attempt: 2 })
  await settle()
  t.equal(asked.length, 2)
  t.match(known(), { type: 'choices' }, 'as it reported last')
})

t.test('the machine describes a folder unless it has already, or would not know', async t => {
  const described = { path: '/tmp/a', branch: 'pears' }
  const { asked, folder, change, settle } = start(t, { choices: { ...choices, folder: described } })
  await settle()
  t.equal(folder(), undefined, 'no folder is chosen')
  change({ path: '/work' })
  t.same(folder(), work)
  change({ path: '/home/mira/notes' })
  t.same(folder(), { path: '/home/mira/notes' })
  await settle()
  t.equal(asked.length, 1, 'only for its choices')

  change({ path: '/tmp/a', choices: undefined })
  await settle()
  t.same(folder(), { path: '/tmp/a' }, 'it has not even said its choices')
  change({ choices })
  await settle()
  t.same(folder(), described)
  t.same(asked.slice(1), [['m1:choices', { folder: '/tmp/a' }]])

  const isOfHappy = { ...studio, metadata: { ...Object(studio.metadata), methods: undefined } }
  for (const other of [isOfHappy, { ...studio, isActive: false, daemonState: null }]) {
    change({ machine: other })
    await settle()
    t.same(folder()?.path, '/tmp/a')
    change({ path: '/tmp/c' })
    await settle()
    change({ path: '/tmp/a' })
  }
  t.same(
    asked.filter(call => JSON.stringify(call).includes('/tmp/c')),
    []
  )
})

t.test('a folder that its machine does not describe is shown by its path', async t => {
  const { folder, change, settle } = start(t, { choices })
  change({ path: '/tmp/b' })
  await settle()
  t.same(folder(), { path: '/tmp/b' })
})

t.test('recent folders have the details that the machine reported', async t => {
  t.same(recentOf(choices), [work, { path: '/home/mira/notes' }])
  t.same(recentOf({ ...choices, folders: undefined }), [{ path: '/work' }, { path: '/home/mira/notes' }])
  t.same(recentOf(undefined), [])
})

t.test('a start begins in the last folder if it is still allowed, and otherwise in the latest there', async t => {
  const only = { ...choices, allowedFolders: ['/work'] }
  t.equal(folderToBegin('/tmp', choices), '/tmp')
  t.equal(folderToBegin('/tmp', only), '/work')
  t.equal(folderToBegin('/tmp', undefined), '/tmp', 'nothing is forbidden yet')
  t.equal(folderToBegin(undefined, choices), '/work')
  t.equal(folderToBegin(undefined, { ...choices, recentFolders: [] }), undefined)
  t.equal(folderToBegin('/tmp', { ...choices, allowedFolders: [] }), undefined)
})

t.test('a machine starts sessions below its allowed folders only', async t => {
  const { home } = choices
  for (const [folder, allowedFolders, expected] of [
    ['/tmp', undefined, true],
    ['/work', ['/work'], true],
    ['/work/a', ['/work'], true],
    ['/workshop', ['/work'], false],
    ['/', ['/work'], false],
    ['/anything', ['/'], true],
    ['/b', ['/a', '/b'], true],
    ['/a', [], false],
    ['~', ['/home/mira'], true],
    ['~/notes', ['/home/mira'], true],
    ['~mira', ['/home/mira'], false],
    ['C:\\work\\a', ['C:\\work'], true],
    ['C:\\workshop', ['C:\\work'], false]
  ] as const) {
    t.equal(isAllowed(folder, { allowedFolders: allowedFolders && [...allowedFolders], home }), expected, `${folder} in ${allowedFolders}`)
  }
})
