import 'fake-indexeddb/auto'
import t from 'tap'
import { cryptoReady, Unreachable } from '../../../lib/client/index.ts'
import { callFailures } from '../../../lib/protocol/wire/failures.ts'
import type { MachineLink } from '../../../web/model/account/machine-call.ts'
import { updateHome } from '../../../web/model/home.ts'
import { describeFolder, guessChoices, listFolders, readChoices } from '../../../web/model/machine-choices.ts'
import { machine } from '../kit/machine.ts'
import { sessionRow } from '../kit/session-row.ts'

t.before(() => cryptoReady())

const choices = { agents: [], recentFolders: ['/work'], home: '/home/mira' }
const computer = { host: 'studio', platform: 'linux', happyCliVersion: '1', homeDir: '/home/mira', happyHomeDir: '/home/mira/.happy' }

/** A machine that Home knows, with these sessions. */
function know(more: object, ...paths: string[]): void {
  updateHome({ type: 'cleared' })
  updateHome({
    type: 'machine',
    machine: { id: 'm1', isActive: true, activeAt: 1, createdAt: 1, metadata: { ...computer, ...more }, daemonState: null }
  })
  for (const [index, path] of paths.entries())
    updateHome({ type: 'session', session: { ...sessionRow, id: `s${index}`, metadata: { path, host: 'studio', machineId: 'm1' } } })
}

const away = {
  async request() {
    return { ok: false, error: callFailures['not-available'] }
  }
}

t.test('a machine is asked for its choices, and for those of one folder', async t => {
  const { link, asked } = machine<MachineLink>({ choices: { ...choices, folder: { path: '/work', branch: 'main' } } })
  t.match(await readChoices(link, 'm1'), { type: 'choices', choices })
  t.match(await describeFolder(link, 'm1', '/work'), { path: '/work', branch: 'main' })
  t.same(asked, [
    ['m1:choices', {}],
    ['m1:choices', { folder: '/work' }]
  ])
})

t.test('the choices of an existing daemon, which does not know the method, are guessed from its sessions', async t => {
  know({ cliAvailability: { claude: true } }, '/work/pears', '/work/plums', '/work/pears')
  const { link } = machine<MachineLink>({})
  const read = await readChoices({ ...link, socket: away } as unknown as MachineLink, 'm1')
  t.match(read, { type: 'choices', choices: { home: '/home/mira' } })
  t.ok(read.type === 'choices' && read.choices.agents.length > 0)
  t.same(read.type === 'choices' && read.choices.recentFolders.toSorted(), ['/work/pears', '/work/plums'], 'each folder once')
  t.equal(await describeFolder({ ...link, socket: away } as unknown as MachineLink, 'm1', '/work'), undefined)
})

t.test('a daemon of ours that is away, or any that fails otherwise, says why', async t => {
  const { link } = machine<MachineLink>({ choices: { error: 'no room' } })
  know({ methods: ['choices'] }, '/work/pears')
  t.equal(guessChoices('m1'), undefined)
  t.match(await readChoices({ ...link, socket: away } as unknown as MachineLink, 'm1'), { type: 'failed', why: 'away' })
  know({})
  t.same(await readChoices(link, 'm1'), { type: 'failed', why: 'failed', says: 'no room' })
})

t.test('at most twelve recent folders are guessed, and an unknown machine has a home all the same', async t => {
  know({}, ...Array.from({ length: 14 }, (_, index) => `/work/${index}`))
  t.equal(guessChoices('m1')?.recentFolders.length, 12)
  t.match(guessChoices('m9'), { recentFolders: [], home: '~' })
})

t.test('the folders in a folder are listed by name, without hidden ones and files', async t => {
  const entry = (name: string, type = 'directory') => ({ name, type })
  const entries = [entry('plums'), entry('Apples'), entry('.git'), entry('readme.md', 'file'), entry('apricots')]
  const { link, asked } = machine<MachineLink>({ listDirectory: { success: true, entries, path: '/home/mira/work' } })
  t.same(await listFolders(link, 'm1', '~/work'), { path: '/home/mira/work', folders: ['Apples', 'apricots', 'plums'] })
  t.same(asked, [['m1:listDirectory', { path: '~/work' }]])
  const older = machine<MachineLink>({ listDirectory: { success: true, entries: [] } })
  t.same(await listFolders(older.link, 'm1', '~/work'), { path: '~/work', folders: [] }, 'an existing daemon does not say its path')
  const refused = machine<MachineLink>({ listDirectory: { success: false, error: 'not allowed' } })
  t.same(await listFolders(refused.link, 'm1', '/'), { type: 'failed', why: 'failed', says: 'not allowed' })
  const gone = machine<MachineLink>({ listDirectory: new Unreachable('not-connected') })
  t.match(await listFolders(gone.link, 'm1', '/'), { type: 'failed', why: 'not-connected' })
})
