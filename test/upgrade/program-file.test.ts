import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { thisPlatform } from '../../lib/upgrade/manifest.ts'
import { putBack, putInPlace, writeBeside } from '../../lib/upgrade/program-file.ts'
import type { Release } from '../../lib/upgrade/release.ts'
import { straceProblem } from '../crash/fault-points.ts'
import { install } from './kit.ts'

const [old, newer] = [Buffer.alloc(100_000, 'old '), Buffer.alloc(100_000, 'newer ')]

const unix = { skip: process.platform === 'win32' ? 'modes and links are of Unix' : false }

t.test('a new program is written beside the old one, with its mode, and its progress is told [V3]', unix, async t => {
  const { place, file, write } = placeOf(t)
  chmodSync(file, 0o751)
  const told: object[] = []
  const part = await write(releaseOf([newer.subarray(0, 40_000), newer.subarray(40_000)]), progress => told.push(progress))
  t.match(part, /afield\.[\da-f]{8}\.part$/)
  t.ok(readFileSync(part).equals(newer))
  t.equal(statSync(part).mode & 0o777, 0o751)
  t.ok(readFileSync(file).equals(old), 'the old one is as it was')
  t.strictSame(told, [
    { done: 40_000, total: 100_000 },
    { done: 100_000, total: 100_000 }
  ])
  t.equal(readdirSync(place).length, 2)
})

t.test(
  'a new program belongs to the owner of the old one',
  { skip: process.getuid?.() === 0 ? false : 'only root can give files away' },
  async t => {
    const { file, write } = placeOf(t)
    chownSync(file, 54_321, 54_322)
    t.match(statSync(await write(releaseOf([newer]))), { uid: 54_321, gid: 54_322 })
  }
)

t.test('a program that is incomplete, too large or not the signed one leaves nothing [V1]', unix, async t => {
  const { place, write } = placeOf(t)
  const refuses = async (release: Release, message: RegExp, exitCode = 78) => {
    await t.rejects(write(release), { name: 'CannotStart', message, exitCode })
    t.strictSame(readdirSync(place), ['afield'])
  }
  await refuses(releaseOf([newer, Buffer.from('x')], newer), /^new is larger than its release says\. Nothing was changed\.$/)
  await refuses(
    releaseOf([newer.subarray(1)], newer),
    /^new is incomplete: 99999 of 100000 bytes arrived\. Nothing was changed; try again\.$/
  )
  await refuses(
    releaseOf([old.subarray(0, 99_999), Buffer.from('x')], newer),
    /^new is not the file that was signed\. Nothing was changed\.$/
  )
  const huge = releaseOf([newer])
  huge.file.size = 1e18
  await refuses(huge, /^The new program needs 1000000000000 MB in .*, where \d+ MB are free\. Nothing was changed\.$/, 75)
})

t.test('a program that cannot be written or read is reported with what to do', unix, async t => {
  const { place, file, write } = placeOf(t)
  const cases: [error: unknown, message: string, exitCode: number][] = [
    ...['ENOSPC', 'EDQUOT'].map((code): [unknown, string, number] => [
      withCode(code),
      `The disk of ${place} is full. Nothing was changed; free some space and try again.`,
      75
    ]),
    ...['EACCES', 'EPERM', 'EROFS'].map((code): [unknown, string, number] => [
      withCode(code),
      `You may not write to ${place} (${code}): run this as the owner of ${file}, such as with sudo; in a container, use a new image.`,
      78
    ]),
    [withCode('EIO'), 'new could not be read or written (EIO). Nothing was changed; try again.', 75],
    [new Error('cut', { cause: withCode('EPIPE') }), 'new could not be read or written (EPIPE). Nothing was changed; try again.', 75],
    [new Error('cut', { cause: 'no error' }), 'new could not be read or written (cut). Nothing was changed; try again.', 75],
    ['no error', 'new could not be read or written (unknown). Nothing was changed; try again.', 75]
  ]
  for (const [error, message, exitCode] of cases) {
    await t.rejects(write({ ...releaseOf([newer]), bytes: () => Promise.reject(error) }), {
      name: 'CannotStart',
      message,
      exitCode,
      cause: error as Error
    })
    t.strictSame(readdirSync(place), ['afield'])
  }
})

t.test('a write that is stopped ends with the reason of whoever stopped it', unix, async t => {
  const { place, write } = placeOf(t)
  const stopping = new AbortController()
  const halves = releaseOf([newer.subarray(0, 10), newer.subarray(10)])
  const told: object[] = []
  const stop = (progress: object) => {
    told.push(progress)
    stopping.abort(new Error('Stopped.'))
  }
  await t.rejects(write(halves, stop, stopping.signal), { name: 'Error', message: 'Stopped.' })
  t.strictSame(told, [{ done: 10, total: 100_000 }])
  t.strictSame(readdirSync(place), ['afield'])
})

t.test('what a killed upgrade left an hour ago is removed, and nothing else', unix, async t => {
  const { place, file, write } = placeOf(t)
  const leave = (name: string, minutesAgo: number) => {
    writeFileSync(join(place, name), '')
    const at = Date.now() / 1000 - minutesAgo * 60
    utimesSync(join(place, name), at, at)
  }
  leave('afield.11111111.part', 61)
  leave('afield.22222222.part', 59)
  leave('afield.notes', 61)
  leave('other.33333333.part', 61)
  rmSync(await write(releaseOf([newer])))
  t.strictSame(readdirSync(place), ['afield', 'afield.22222222.part', 'afield.notes', 'other.33333333.part'])
  t.ok(readFileSync(file).equals(old))
})

t.test('the replaced program is kept as the previous one, and can be put back [V5]', unix, async t => {
  const { place, file, write } = placeOf(t)
  writeFileSync(join(place, 'afield.previous'), 'older')
  writeFileSync(join(place, 'afield.previous.part'), 'of a killed swap')
  const { ino } = statSync(file)
  putInPlace(await write(releaseOf([newer])), file)
  t.strictSame(readdirSync(place), ['afield', 'afield.previous'])
  t.ok(readFileSync(file).equals(newer))
  t.equal(statSync(join(place, 'afield.previous')).ino, ino, 'the same file under another name')
  putBack(file)
  t.strictSame(readdirSync(place), ['afield'])
  t.ok(readFileSync(file).equals(old))
})

t.test('a running program of Windows is renamed, since it cannot be replaced [V5]', unix, async t => {
  const { place, file, write } = placeOf(t)
  writeFileSync(join(place, 'afield.previous'), 'older')
  const part = await write(releaseOf([newer]))
  t.intercept(process, 'platform', { value: 'win32' })
  putInPlace(part, file)
  t.strictSame(readdirSync(place), ['afield', 'afield.previous'])
  t.ok(readFileSync(file).equals(newer))
  t.ok(readFileSync(join(place, 'afield.previous')).equals(old))
  putBack(file)
  t.match(readdirSync(place), ['afield', /^afield\.[\da-f]{8}\.part$/])
  t.ok(readFileSync(file).equals(old))
  t.throws(() => putInPlace(join(place, 'missing'), file), { message: `${file} could not be replaced (ENOENT); it is as it was.` })
  t.ok(readFileSync(file).equals(old), 'a swap that fails midway is undone')
})

t.test(
  'whenever it is killed, the swap leaves a whole program under the name, the old or the new [V3]',
  { skip: straceProblem() ?? false },
  async t => {
    const code = pathToFileURL(join(import.meta.dirname, '../../lib/upgrade/program-file.ts')).href
    const swap = `import(${JSON.stringify(code)}).then(({ putInPlace }) => putInPlace(process.argv[1], process.argv[2]))`
    const seen = new Set<string>()
    for (const call of ['link', 'rename', 'unlink', 'copy_file_range', 'fsync']) {
      for (let count = 1, isKilled = true; isKilled; count += 1) {
        const place = t.testdir({})
        const file = install(place, old)
        writeFileSync(join(place, 'part'), newer)
        const strace = ['-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${count}`]
        const words = [
          ...strace,
          'env',
          '-u',
          'NODE_OPTIONS',
          '-u',
          'NODE_COMPILE_CACHE',
          process.execPath,
          '-e',
          swap,
          join(place, 'part'),
          file
        ]
        const { status, signal, stderr } = spawnSync('strace', words, { encoding: 'utf8' })
        isKilled = signal === 'SIGKILL'
        t.ok(isKilled || status === 0, stderr)
        const now = readFileSync(file)
        t.ok(now.equals(old) || now.equals(newer), `killed at ${call} ${count}`)
        seen.add(`${now.equals(old) ? 'old' : 'new'}${isKilled ? ' after a kill' : ''}`)
      }
    }
    t.same([...seen].toSorted(), ['new', 'new after a kill', 'old after a kill'])
  }
)

t.test(
  'a swap that fails leaves the program as it was, and nothing of the new one [V3]',
  { skip: process.platform === 'win32' },
  async t => {
    const place = t.testdir({ 'afield.previous': { 'of a person': '' } })
    const file = install(place, old)
    chmodSync(file, 0o750)
    const fails = (part: string, code: RegExp) => {
      t.throws(() => putInPlace(join(place, part), file), {
        message: /could not be replaced .*; it is as it was/,
        exitCode: 75,
        cause: { code }
      })
      t.ok(readFileSync(file).equals(old))
      t.equal(statSync(file).mode & 0o777, 0o750)
      t.same(readdirSync(place).toSorted(), ['afield', 'afield.previous'])
    }
    writeFileSync(join(place, 'part'), newer)
    fails('part', /EISDIR|ENOTEMPTY|EEXIST/)
    rmSync(join(place, 'afield.previous'), { recursive: true })
    fails('no such file', /ENOENT/)
  }
)

function placeOf(t: Test) {
  const place = join(t.testdir(), 'bin')
  mkdirSync(place)
  const file = install(place, old)
  const running = new AbortController().signal
  return {
    place,
    file,
    write: (release: Release, tell: (progress: object) => void = () => {}, signal = running) => writeBeside(file, release, { tell, signal })
  }
}

/** A release that says what `signed` is, and sends the chunks. */
function releaseOf(chunks: readonly Buffer[], signed = Buffer.concat(chunks)): Release {
  return {
    version: '0.2.0',
    file: { name: 'new', platform: thisPlatform(), size: signed.length, sha256: createHash('sha256').update(signed).digest('hex') },
    async bytes() {
      return (async function* () {
        yield* chunks
      })()
    }
  }
}

function withCode(code: string): Error {
  return Object.assign(new Error(`${code}: of a test`), { code })
}
