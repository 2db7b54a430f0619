import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { untilFound, watchFolders } from '../../../lib/wrapper/home/folder-watch.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const watching = () => process.getActiveResourcesInfo().filter(name => name === 'FSEventWrap').length
/** When those that were closed have ended. */
const left = () => new Promise<number>(resolve => setImmediate(() => setImmediate(() => resolve(watching()))))
const never = new AbortController().signal

t.test('what is there already is found at once, and nothing is watched any longer', async t => {
  const clock = manualClock()
  const before = watching()
  const find = (watch: (folder: string) => void) => {
    watch(t.testdirName)
    return 0
  }
  t.testdir({})
  t.equal(await untilFound(find, never, { clock }), 0)
  t.equal(clock.pending, 0)
  t.equal(await left(), before)
})

t.test('another look is taken every second, or as often as was asked for, until something is found', async t => {
  for (const lookEveryMs of [undefined, 250]) {
    const clock = manualClock()
    let looks = 0
    let found: string | undefined
    const searching = untilFound(
      () => {
        looks++
        return found
      },
      never,
      { clock, lookEveryMs }
    )
    t.equal(looks, 1)
    clock.advance((lookEveryMs ?? 1000) - 1)
    t.equal(looks, 1)
    for (const step of [1, lookEveryMs ?? 1000]) clock.advance(step)
    t.equal(looks, 3)
    found = 'it'
    clock.advance(lookEveryMs ?? 1000)
    t.equal(await searching, 'it')
    t.equal(clock.pending, 0)
  }
})

t.test('a change in a folder is noticed at once', async t => {
  const clock = manualClock()
  const folder = t.testdir({ one: {}, two: {} })
  const before = watching()
  const isThere: string[] = []
  let done = false
  const searching = untilFound(
    watch => {
      for (const name of ['one', 'two', 'one']) watch(join(folder, name))
      if (isThere.length === 0) t.equal(watching(), before + 2, 'each is watched once')
      isThere.push('look')
      return done || undefined
    },
    never,
    { clock }
  )
  done = true
  writeFileSync(join(folder, 'two', 'name'), '')
  t.equal(await searching, true)
  t.equal(clock.now(), 0)
  t.equal(await left(), before)
})

t.test('a folder that cannot be watched is looked at from time to time', async t => {
  const clock = manualClock()
  const folder = join(t.testdir({}), 'late')
  let found: string | undefined
  const searching = untilFound(
    watch => {
      watch(folder)
      return found
    },
    never,
    { clock }
  )
  mkdirSync(folder)
  found = folder
  clock.advance(1000)
  t.equal(await searching, folder)
})

t.test('a search that nobody wants is not begun, and one under way is given up with its reason', async t => {
  const clock = manualClock()
  const reason = new Error('no longer')
  let looks = 0
  const find = () => {
    looks++
    return undefined
  }
  await t.rejects(untilFound(find, AbortSignal.abort(reason), { clock }), reason)
  t.equal(looks, 0)
  const ending = new AbortController()
  const searching = untilFound(find, ending.signal, { clock })
  t.equal(looks, 1)
  ending.abort(reason)
  await t.rejects(searching, reason)
  t.equal(clock.pending, 0)
})

t.test('a search that fails is over, whenever it fails', async t => {
  const clock = manualClock()
  const reason = new Error('gone')
  let isGone = true
  const find = () => {
    if (isGone) throw reason
    return undefined
  }
  await t.rejects(untilFound(find, never, { clock }), reason)
  isGone = false
  const searching = untilFound(find, never, { clock })
  isGone = true
  clock.advance(1000)
  await t.rejects(searching, reason)
  t.equal(clock.pending, 0)
})

t.test('a closed watch calls nobody any more', async t => {
  const clock = manualClock()
  const before = watching()
  const watch = watchFolders(() => t.fail('it is closed'), { clock })
  watch.add(t.testdir({}))
  watch.close()
  clock.advance(10_000)
  t.equal(await left(), before)
})

t.test('without a clock of its own a search uses that of the system', async t => {
  let looks = 0
  t.equal(await untilFound(() => (++looks === 3 ? looks : undefined), never, { lookEveryMs: 1 }), 3)
  t.equal(await untilFound(() => 'it', never), 'it')
  watchFolders(() => {}).close()
})
