import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { StoreBroken } from '../../../lib/store/store.ts'
import { CommitQueue, type CommitQueueDeps } from '../../../sqlite/engine/commit-queue.ts'
import { turnContract } from '../../store/contract/turns.ts'
import { proveParts } from '../contract.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('all writes of one turn share one commit, in the order they arrived', async t => {
  const { write, words, commits } = openQueue(t)
  const before = commits()
  const order: string[] = []
  const note = (word: string) => write(word).then(() => order.push(word))
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(note))
  t.equal(commits() - before, 1)
  t.same(words(), ['a', 'b', 'c', 'd', 'e'])
  t.same(order, words())
})

t.test('writes of different turns have their own commits', async t => {
  const { write, commits } = openQueue(t)
  const before = commits()
  await write('a')
  await write('b')
  t.equal(commits() - before, 2)
})

t.test('reads cause no sync', async t => {
  const { queue, words, commits } = openQueue(t)
  const before = commits()
  t.same(await Promise.all([queue.write(words), queue.write(words), queue.read(words)]), [[], [], []])
  t.equal(commits() - before, 0)
})

t.test('nothing is readable until the commit that answers it [D3]', async t => {
  const { write, queue, words } = openQueue(t)
  const writing = write('a')
  t.same(await queue.read(words), [])
  await writing
  t.same(await queue.read(words), ['a'])
})

t.test('a failing member undoes its own effect and no other', async t => {
  const { write, queue, insert, words, commits } = openQueue(t)
  const before = commits()
  const outcomes = await Promise.allSettled([
    write('a'),
    queue.write(() => {
      insert('half done')
      throw new Error('changed my mind')
    }),
    queue.write(() => insert('a')),
    write('b')
  ])
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled']
  )
  t.match(outcomes[1], { reason: { message: 'changed my mind' } })
  t.match(outcomes[2], { reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })
  t.same(words(), ['a', 'b'])
  t.equal(commits() - before, 1)
})

t.test('a member that fails alone leaves nothing', async t => {
  const { queue, insert, write, words } = openQueue(t)
  const failing = queue.write(() => {
    insert('half done')
    throw new Error('changed my mind')
  })
  await t.rejects(failing, { message: 'changed my mind' })
  await write('b')
  t.same(words(), ['b'])
})

t.test('a member sees the effects of earlier ones in the turn', async t => {
  const { write, queue, words } = openQueue(t)
  const [, seen] = await Promise.all([write('a'), queue.write(words)])
  t.same(seen, ['a'])
})

t.test('a commit has at most 128 members and about 4 MiB, unless a single one is larger [D6]', async t => {
  const { write, words, commits } = openQueue(t)
  const commitsOf = async (count: number, bytes: number) => {
    const before = commits()
    const first = words().length
    await Promise.all(Array.from({ length: count }, (_, index) => write(`${first + index}`, bytes)))
    return commits() - before
  }
  const mebibyte = 1024 * 1024
  t.equal(await commitsOf(128, 0), 1)
  t.equal(await commitsOf(129, 0), 2)
  t.equal(await commitsOf(4, mebibyte), 1)
  t.equal(await commitsOf(5, mebibyte), 2)
  t.equal(await commitsOf(2, 5 * mebibyte), 2)
})

t.test('a few slow members share a commit, and none overtakes another [D6]', async t => {
  const { queue, insert, commits } = openQueue(t)
  const before = commits()
  const order: string[] = []
  const members = Array.from({ length: 20 }, (_, index) => ({ word: `${index}`, isLong: index !== 9 }))
  await Promise.all(members.map(({ word, isLong }) => queue.write(() => insert(word), { isLong }).then(() => order.push(word))))
  t.equal(commits() - before, 3)
  t.same(
    order,
    members.map(({ word }) => word)
  )
})

t.test('a full disk fails the whole turn with nothing stored, and the next one works once there is space [F1]', async t => {
  const { database, write, queue, words } = openQueue(t)
  await write('before')
  const pages = Number(database.pragma('page_count', { simple: true }))
  database.pragma(`max_page_count = ${pages}`)
  const outcomes = await Promise.allSettled([write('small'), write('x'.repeat(100_000)), write('late')])
  for (const outcome of outcomes) t.match(outcome, { status: 'rejected', reason: { name: 'StoreFull' } })
  t.same(await queue.read(words), ['before'])

  database.pragma('max_page_count = 100000')
  await write('after')
  t.same(words(), ['after', 'before'])
})

for (const code of ['SQLITE_IOERR_FSYNC', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB']) {
  t.test(`${code} fails the whole turn and everything after it, and is reported once [F2]`, async t => {
    const { write, queue, words, told } = openQueue(t)
    await write('before')
    const failing = queue.write(() => {
      throw new Database.SqliteError('the disk is gone', code)
    })
    const outcomes = await Promise.allSettled([write('a'), failing, write('b')])
    for (const outcome of outcomes) t.match(outcome, { status: 'rejected', reason: { name: 'StoreBroken' } })
    await t.rejects(write('late'), { name: 'StoreBroken' })
    await t.rejects(queue.read(words), { name: 'StoreBroken' })
    t.same(
      told.map(({ message }) => message),
      ['The database failed: the disk is gone.']
    )
    t.same(words(), ['before'])
  })
}

t.test('a read that finds the database corrupt fails the waiting writes [F5]', async t => {
  const { write, queue, words, told } = openQueue(t)
  const writing = write('a')
  const reading = queue.read(() => {
    throw new Database.SqliteError('malformed', 'SQLITE_CORRUPT')
  })
  await t.rejects(reading, { name: 'StoreBroken' })
  await t.rejects(writing, { name: 'StoreBroken' })
  t.equal(told.length, 1)
  t.same(words(), [])
})

t.test('a turn waits for another program without blocking the event loop [F6]', async t => {
  const { file, write, words } = openQueue(t)
  const outside = new Database(file)
  t.teardown(() => outside.close())
  outside.exec('BEGIN IMMEDIATE')
  let isDone = false
  const writing = Promise.all([write('a'), write('b')]).then(() => {
    isDone = true
  })
  for (let turns = 0; turns < 20; turns++) await turn()
  t.equal(isDone, false)
  outside.exec('COMMIT')
  await writing
  t.same(words(), ['a', 'b'])
})

t.test('writes are clearly rejected while another program locks the database, and the store continues [F6]', async t => {
  const { file, write, words, told } = openQueue(t)
  const outside = new Database(file)
  t.teardown(() => outside.close())
  outside.exec('BEGIN IMMEDIATE')
  await t.rejects(write('a'), { name: 'StoreBusy', message: 'Another program holds the database.' })
  outside.exec('COMMIT')
  await write('b')
  t.same(words(), ['b'])
  t.same(told, [])
})

t.test('commit listeners cannot affect commits [D4]', async t => {
  const { database } = openQueue(t)
  const warned = once(process, 'warning')
  const throwing = () => {
    throw new Error('the watcher failed')
  }
  const watched = new CommitQueue({ database, onBroken: () => t.fail('nothing broke'), onCommit: throwing })
  t.equal(await watched.write(() => database.prepare("INSERT INTO word VALUES ('kept')").run().changes), 1)
  t.match(await warned, [{ message: 'the watcher failed' }])
})

for (const whose of ['tail', 'beside'] as const)
  t.test(`a failed turn is rolled back even if its ${whose} cannot undo its part`, async t => {
    const { database, insert, words } = openQueue(t)
    const failing = () => {
      throw new Error('cannot undo')
    }
    const beside = { beforeCommit() {}, undone: whose === 'beside' ? failing : () => {} }
    const queue = new CommitQueue({ database, onBroken: () => t.fail('nothing broke'), beside })
    const tail = whose === 'tail' ? { tail: { finish() {}, forget: failing } } : {}
    const half = () => {
      insert('half done')
      throw new Error('changed my mind')
    }
    await t.rejects(queue.write(half, tail))
    await queue.write(() => insert('next'))
    t.same(words(), ['next'])
  })

t.test('a full disk releases the reserve, and until it is back only writes that need no space are accepted [F1]', async t => {
  const disk = { isReleased: false, releases: 0 }
  const reserve = {
    isReleased: () => disk.isReleased,
    release() {
      disk.isReleased = true
      disk.releases += 1
    }
  }
  const { database, write, queue, words } = openQueue(t, { reserve })
  await write('before', 1)
  database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`)
  await t.rejects(write('x'.repeat(100_000), 1), {
    name: 'StoreFull',
    message: 'The disk has no space for this write.',
    cause: { code: 'SQLITE_FULL' }
  })
  t.equal(disk.releases, 1)
  database.pragma('max_page_count = 100000')
  await t.rejects(write('late', 1), { name: 'StoreFull', message: 'The disk has no space for this write.' })
  t.equal(await queue.write(() => database.prepare('DELETE FROM word').run().changes), 1)
  disk.isReleased = false
  await write('after', 1)
  t.same(words(), ['after'])
})

t.test('while the log is too long only writes that need no space are accepted [F7]', async t => {
  const log = { isTooLong: () => isTooLong }
  let isTooLong = true
  const { write, words } = openQueue(t, { log })
  await t.rejects(write('large', 1), { name: 'StoreBusy', message: 'Another program keeps reading the database.' })
  await write('removal', 0)
  isTooLong = false
  await write('large', 1)
  t.same(words(), ['large', 'removal'])
})

t.test('each commit is reported with how many writes shared it, and a failed turn is not', async t => {
  const told: { members: number; ms: number }[] = []
  const { write, queue, words } = openQueue(t, { onCommit: turn => told.push(turn) })
  await Promise.all([write('a'), write('b'), write('c')])
  await t.rejects(
    queue.write(() => {
      throw new Error('changed my mind')
    })
  )
  await queue.read(words)
  t.match(told, [{ members: 3 }])
  t.equal(told.length, 1)
  t.ok((told[0]?.ms ?? -1) >= 0 && (told[0]?.ms ?? -1) < 60_000)
})

t.test('files beside the database are written before the commit, and undone if it fails', async t => {
  const log: unknown[] = []
  let isFailing = false
  const beside = {
    beforeCommit() {
      log.push({ committed: readWords(), written: words() })
      if (isFailing) throw new Error('no space beside')
    },
    undone: () => log.push('undone')
  }
  const { file, write, words } = openQueue(t, { beside })
  const reader = new Database(file, { readonly: true })
  t.teardown(() => reader.close())
  const readWords = () => reader.prepare<[], string>('SELECT word FROM word').pluck().all()
  await Promise.all([write('a'), write('b')])
  isFailing = true
  await t.rejects(write('c'), { message: 'no space beside' })
  isFailing = false
  await write('d')
  t.same(log, [
    { committed: [], written: ['a', 'b'] },
    { committed: ['a', 'b'], written: ['a', 'b', 'c'] },
    'undone',
    { committed: ['a', 'b'], written: ['a', 'b', 'd'] }
  ])
  t.same(words(), ['a', 'b', 'd'])
})

t.test('deferred work is done before a member of another kind and before the commit, and dropped when its turn is rolled back', async t => {
  const { queue, insert, words } = openQueue(t)
  const log: string[] = []
  const tailOf = (kind: string) => ({ finish: () => log.push(`finish ${kind}`), forget: () => log.push(`forget ${kind}`) })
  const [one, other] = [tailOf('one'), tailOf('other')]
  const write = (word: string, tail: typeof one | undefined) =>
    queue.write(
      () => {
        log.push(word)
        insert(word)
      },
      { ...(tail && { tail }) }
    )
  await Promise.all([write('a', one), write('b', one), write('c', other), write('d', undefined), write('e', one)])
  t.same(log.splice(0), ['a', 'b', 'finish one', 'c', 'finish other', 'd', 'e', 'finish one'])

  const outcomes = await Promise.allSettled([write('f', one), write('a', other), write('g', one)])
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled']
  )
  const again = log.lastIndexOf('f')
  t.same(log.slice(0, 3), ['f', 'finish one', 'a'])
  t.same(new Set(log.slice(3, again)), new Set(['forget one', 'forget other']), 'all of it was rolled back')
  t.same(log.slice(again), ['f', 'finish one', 'a', 'forget other', 'g', 'finish one'])
  t.same(words(), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

t.test('a queue that was closed while nothing waited rejects later reads and writes', async t => {
  const { write, queue, words, told } = openQueue(t)
  await queue.end()
  await queue.end()
  const closed = { name: 'StoreBroken', message: 'The store is closed.' }
  await t.rejects(write('late'), closed)
  await t.rejects(queue.read(words), closed)
  t.same([words(), told], [[], []])
})

t.test('closing the queue finishes its waiting members first', async t => {
  const { write, queue, words } = openQueue(t)
  const writes = Promise.all(Array.from({ length: 300 }, (_, index) => write(`${index}`)))
  await queue.end()
  t.equal(words().length, 300)
  await writes
  await t.rejects(write('late'), { name: 'StoreBroken' })
})

proveParts(t, turnContract)

function openQueue(t: Test, more: Partial<CommitQueueDeps> = {}) {
  const file = join(t.testdir(), 'words.db')
  const database = new Database(file, { timeout: 0 })
  t.teardown(() => database.close())
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('CREATE TABLE word (word TEXT PRIMARY KEY)')
  const told: StoreBroken[] = []
  const queue = new CommitQueue({ database, onBroken: reason => told.push(reason), ...more })
  const insert = (word: string) => database.prepare('INSERT INTO word VALUES (?)').run(word).changes
  return {
    file,
    database,
    queue,
    told,
    insert,
    write: (word: string, bytes = 0) => queue.write(() => insert(word), { bytes }),
    words: () => database.prepare<[], string>('SELECT word FROM word ORDER BY word').pluck().all(),
    commits: () => commitsIn(`${file}-wal`)
  }
}

// In the log, the last frame of each commit carries the size of the database; all other frames carry 0.
function commitsIn(log: string): number {
  const bytes = readFileSync(log)
  const frameSize = 24 + bytes.readUInt32BE(8)
  let commits = 0
  for (let frame = 32; frame < bytes.length; frame += frameSize) {
    if (bytes.readUInt32BE(frame + 4) !== 0) commits++
  }
  return commits
}
