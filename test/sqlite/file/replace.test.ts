import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { type Places, replace, settle } from '../../../sqlite/file/replace.ts'
import { memoryFolder } from '../../kit/memory-folder.ts'
import { failRenames, openFilesIn, watchCalls } from '../../kit/watch-files.ts'

/** Every file below a directory, with what it says. */
function filesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    names
      .map(entry => join(entry.parentPath, entry.name))
      .filter(path => !statSync(path).isDirectory() || readdirSync(path).length === 0)
      .map(path => [relative(directory, path), statSync(path).isDirectory() ? 'an empty directory' : readFileSync(path, 'utf8')])
      .toSorted()
  )
}

const old = { 'afield.db': 'old', 'afield.db-journal': 'old journal', 'afield.db-shm': 'old index', 'afield.db-wal': 'old log' }

/** Old data, and what was unpacked to replace it; the database is next to the key, or on another disk. */
function unpackedOver(t: Test, layout: 'together' | 'apart', before: Record<string, string> = { ...old, 'key.pem': 'old' }) {
  const root = memoryFolder(t)
  const placesIn = (root: string): Places => ({
    data: join(root, 'data'),
    database: join(root, layout === 'together' ? 'data' : 'disk', 'afield.db')
  })
  const baseOf = (name: string) => join(root, name.startsWith('afield.db') && layout === 'apart' ? 'disk' : 'data')
  const write = (name: string, text: string) => {
    mkdirSync(join(baseOf(name), name, '..'), { recursive: true })
    writeFileSync(join(baseOf(name), name), text)
  }
  for (const [name, text] of Object.entries(before)) write(name, text)
  const fresh = { database: join(baseOf('afield.db'), 'afield-restore-1'), data: join(root, 'data', 'afield-restore-1') }
  for (const directory of Object.values(fresh)) mkdirSync(directory, { recursive: true })
  writeFileSync(join(fresh.database, 'restored.db'), 'new')
  writeFileSync(join(fresh.data, 'key.pem'), 'new')
  const places = placesIn(root)
  return {
    root,
    places,
    placesIn,
    write,
    replace: () => replace(places, { fresh, databaseName: 'restored.db', names: ['key.pem'] }, 'before'),
    /** What the user sees with the old data, and with the new. */
    whole: {
      old: Object.fromEntries(Object.entries(before).map(([name, text]) => [relative(root, join(baseOf(name), name)), text])),
      new: {
        [relative(root, places.database)]: 'new',
        'data/key.pem': 'new',
        ...Object.fromEntries(Object.entries(before).map(([name, text]) => [relative(root, join(baseOf(name), 'before', name)), text]))
      }
    }
  }
}

for (const layout of ['together', 'apart'] as const) {
  t.test(`with database and keys ${layout}, the old files move aside privately and the unpacked ones take their place [K2]`, async t => {
    const { places, root, whole, replace } = unpackedOver(t, layout)
    const asides = replace()
    t.same(filesIn(root), whole.new)
    t.same(asides, [...new Set([join(root, 'data', 'before'), join(places.database, '..', 'before')])])
    for (const aside of asides) t.equal(statSync(aside).mode & 0o777, 0o700)
    t.same(openFilesIn(root), [], 'no file is left open')
  })

  t.test(`with database and keys ${layout}, a power cut at any rename leaves all of the old or all of the new data [K2]`, async t => {
    const { root, placesIn, whole, replace } = unpackedOver(t, layout)
    const cuts: string[] = []
    const copies = memoryFolder(t)
    const end = watchCalls(t, 'renameSync', () => {
      const copy = join(copies, String(cuts.length))
      cuts.push(copy)
      cpSync(root, copy, { recursive: true })
    })
    replace()
    end()
    const found = cuts.map(cut => {
      settle(placesIn(cut))
      return filesIn(cut)
    })
    t.same(found, [whole.old, ...Array(7).fill(whole.new)], 'the old only before the plan is on disk')
  })

  t.test(`with database and keys ${layout}, a failed rename is undone, and the reason is given [K2]`, async t => {
    for (let after = 0; after < 8; after++) {
      const { root, whole, replace } = unpackedOver(t, layout)
      const { end } = failRenames(t, after, 1, 'ENOSPC')
      t.throws(replace, {
        name: 'CannotStart',
        message: 'The backup could not be put in place (ENOSPC); the previous data is where it was.',
        exitCode: 75,
        cause: { code: 'ENOSPC' }
      })
      end()
      t.same(filesIn(root), whole.old)
    }
  })

  t.test(
    `with database and keys ${layout}, if undoing fails too, the error says where the old files may be, and the next start completes the restore [K2]`,
    async t => {
      for (let after = 2; after < 8; after++) {
        const { places, root, whole, replace } = unpackedOver(t, layout)
        const { end } = failRenames(t, after, Number.POSITIVE_INFINITY)
        const asides = [...new Set([join(root, 'data', 'before'), join(places.database, '..', 'before')])]
        t.throws(replace, {
          name: 'CannotStart',
          message: `The backup could not be put in place (EIO), and not all of the previous data could be moved back; restore or start again to complete it. Parts of the previous data may be in ${asides.join(' and ')}.`,
          exitCode: 75,
          cause: { code: 'EIO' }
        })
        end()
        settle(places)
        t.same(filesIn(root), whole.new)
      }
    }
  )
}

t.test('where there is nothing yet, nothing is moved aside, and a failure leaves nothing', async t => {
  const first = unpackedOver(t, 'together', {})
  t.same(first.replace(), [])
  t.same(filesIn(first.root), { 'data/afield.db': 'new', 'data/key.pem': 'new' })
  for (const after of [1, 2]) {
    const { root, replace } = unpackedOver(t, 'together', {})
    const { end } = failRenames(t, after, 1)
    t.throws(replace, { message: /the previous data is where it was/ })
    end()
    t.same(filesIn(root), { data: 'an empty directory' })
  }
})

t.test('only what the backup has is replaced, and what was moved aside earlier stays', async t => {
  const { root, replace } = unpackedOver(t, 'together', {
    'afield.db': 'old',
    'other.pem': 'mine',
    'before/key.pem': 'older',
    'before-2/key.pem': 'old'
  })
  t.same(replace(), [join(root, 'data', 'before-3')])
  t.same(filesIn(join(root, 'data')), {
    'afield.db': 'new',
    'before-2/key.pem': 'old',
    'before-3/afield.db': 'old',
    'before/key.pem': 'older',
    'key.pem': 'new',
    'other.pem': 'mine'
  })
})

t.test('the plan is on disk before anything moves, and the moved files are before it is removed [K2]', async t => {
  const { root, replace } = unpackedOver(t, 'apart')
  const log: string[] = []
  const nameOf = (path: unknown) => relative(root, String(path))
  let opened = ''
  watchCalls(t, 'openSync', path => {
    opened = nameOf(path)
  })
  // No file is opened between the opening and the syncing of one.
  watchCalls(t, 'fsyncSync', () => log.push(`sync ${opened}`))
  watchCalls(t, 'renameSync', (from, to) => log.push(`${nameOf(from)} to ${nameOf(to)}`))
  watchCalls(t, 'rmSync', path => log.push(`remove ${nameOf(path)}`))
  replace()
  const planned = log.indexOf('disk/afield.db.restoring.part to disk/afield.db.restoring')
  const lastMove = log.findLastIndex(line => line.includes(' to '))
  const removed = log.findIndex(line => line.startsWith('remove '))
  const unpacked = ['sync data/afield-restore-1', 'sync disk/afield-restore-1', 'sync disk/afield.db.restoring.part']
  t.same(log.slice(0, planned).toSorted(), unpacked)
  t.equal(log[planned + 1], 'sync disk')
  t.same(log.slice(lastMove + 1, removed).toSorted(), ['sync data', 'sync disk'])
  t.ok(log.slice(removed).includes('remove disk/afield.db.restoring'))
})

/** Cut off after so many renames, of which the first is that of the plan. */
function cutOff(t: Test, after: number) {
  const world = unpackedOver(t, 'together')
  const { end } = failRenames(t, after, Number.POSITIVE_INFINITY)
  t.throws(world.replace)
  end()
  return { ...world, files: () => filesIn(join(world.root, 'data')), settle: () => settle(world.places) }
}

t.test('a plan whose files are gone is rolled back: the old data returns', async t => {
  const { root, settle, whole } = cutOff(t, 4)
  rmSync(join(root, 'data', 'afield-restore-1', 'restored.db'))
  settle()
  t.same(filesIn(root), whole.old)
})

t.test('a database that appeared in the place meanwhile is not overwritten, and nothing is removed', async t => {
  const { root, settle, write, files } = cutOff(t, 7)
  write('afield.db', 'of somebody else')
  const before = files()
  t.throws(settle, {
    name: 'CannotStart',
    message: `A restore into ${join(root, 'data')} was interrupted and cannot be completed (unknown); ${join(root, 'data', 'afield.db.restoring')} says what was being moved.`,
    exitCode: 75,
    cause: { message: /afield\.db is there again/ }
  })
  t.same(files(), before)
})

t.test('a plan that cannot be carried out now is kept for the next attempt, and the reason is given', async t => {
  const { root, settle, whole } = cutOff(t, 4)
  const { end } = failRenames(t, 0, Number.POSITIVE_INFINITY, 'EROFS')
  t.throws(settle, { name: 'CannotStart', message: /cannot be completed \(EROFS\)/, cause: { code: 'EROFS' } })
  end()
  settle()
  t.same(filesIn(root), whole.new)
})

t.test('what was only unpacked, or half planned, is removed, and nothing else [K2]', async t => {
  const { places, root, write } = unpackedOver(t, 'apart')
  for (const name of ['restore-mine/x', 'my-afield-restore-1/x']) write(name, 'mine')
  write('afield.db.restoring.part', '{"fresh":[')
  settle(places)
  t.same(filesIn(root), {
    ...Object.fromEntries(Object.entries(old).map(([name, text]) => [`disk/${name}`, text])),
    'data/key.pem': 'old',
    'data/my-afield-restore-1/x': 'mine',
    'data/restore-mine/x': 'mine'
  })
})
