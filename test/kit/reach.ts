import { posix } from 'node:path'
import { importsOf } from './arrows.ts'

/** Why the tests of a change run, and which remotely affected ones are left to the full run. */
export interface Selection {
  /** Set if everything has to run: the file that everything depends on. */
  everythingFor: string | undefined
  /** Test files with a short reason. */
  runs: ReadonlyMap<string, string>
  /** Tests that reach the change only through a program that they start. A sample of them is in `runs`. */
  left: readonly string[]
  /** Changed sources that no test reaches. */
  untested: readonly string[]
}

/** Reads the text of a file of the tree by its path from the root, with `/` between. */
type Read = (file: string) => string

/** Everything depends on these: how tests run, and which packages they load. */
const groundwork = ['package.json', 'package-lock.json', '.npmrc', 'test/kit/run.mjs', 'test/kit/close-first.mjs', 'test/kit/reporter.mjs']

// They read the tree itself, and take seconds.
const always = [
  'test/arrows.test.ts',
  'test/behaviour.test.ts',
  'test/docs.test.ts',
  'test/options.test.ts',
  'test/api.test.ts',
  'test/kit/reach.test.ts'
]

/**
 * Where a test uses a whole program: the command line, the server in its own process, the app in a browser. Code behind these
 * is reached by most tests, and deliberately by few.
 */
const ends = /^(?:bin\/(?:afield|commands|commands\/[\w-]+)\.ts|lib\/server\/create\.ts|web\/bundle\.mjs)$/

/** Files of the built app, and those that open it in a browser. */
const builtApp = /^build\/(?:web\b|app\.json$)/
const opensApp = 'test/kit/browser.ts'
const opensAnyPage = 'test/kit/chromium.ts'

const parts: readonly [part: string, files: RegExp][] = [
  ['server', /^(?:test\/|lib\/)?(?:server|store|bus|backup|doctor|sqlite|redis)\//],
  ['wrapper', /^(?:lib|test)\/wrapper\//],
  ['app', /^(?:test\/)?web\//],
  ['command line', /^(?:test\/)?bin\//],
  ['client', /^(?:lib|test)\/(?:client|protocol|crypto|async)\//]
]

/** The sampling rate for tests that start a program with the change: one in so many, in its part of the tree and in the others. */
const oneIn = { part: 3, others: 12 }

/**
 * The tests that a change can reach. Those that import it all run, and so do those of its folder and the folders around it that start a
 * program with it. Most others that start such a program are about something else: a sample of them runs, larger in the
 * part of the tree that the change belongs to. `order` sorts the files to take a sample from.
 */
export function selectTests(
  changed: readonly string[],
  { files, tests, read, order }: { files: readonly string[]; tests: readonly string[]; read: Read; order: (file: string) => string }
): Selection {
  const everythingFor = changed.find(file => groundwork.includes(file))
  if (everythingFor !== undefined) return { everythingFor, runs: new Map(tests.map(test => [test, everythingFor])), left: [], untested: [] }
  const graph = graphOf(files, read)
  const commands = commandsOf(files)
  const runs = new Map(always.filter(test => tests.includes(test)).map(test => [test, 'always']))
  const far: Record<keyof typeof oneIn, string[]> = { part: [], others: [] }
  const reached = new Set<string>()
  for (const test of tests) {
    if (runs.has(test)) continue
    const { near, whole } = reachOf(test, { graph, commands, read })
    const met = changed.filter(file => whole.has(file))
    for (const file of met) reached.add(file)
    const reason = reasonFor(test, { changed, near, met })
    if (reason !== undefined) runs.set(test, reason)
    else if (met.length > 0) far[met.some(file => isOfPart(file, test)) ? 'part' : 'others'].push(test)
  }
  const left = Object.values(far).flatMap((found, index) => {
    const sorted = found.toSorted((a, b) => order(a).localeCompare(order(b)))
    const taken = Math.ceil(sorted.length / (index === 0 ? oneIn.part : oneIn.others))
    for (const test of sorted.slice(0, taken)) runs.set(test, 'a sample of those that start a program with it')
    return sorted.slice(taken)
  })
  const untested = changed.filter(file => isSource(file) && files.includes(file) && !file.startsWith('test/') && !reached.has(file))
  return { everythingFor, runs, left, untested }
}

export interface NearTest {
  test: string
  /** It runs the built app in a browser. */
  opensApp: boolean
  opensBrowser: boolean
  /** It has the path of the source. */
  isOwn: boolean
  /** Its imports on the way to the source, less the folders that both share. */
  distance: number
}

/**
 * For any source, the tests that can reach it, nearest first: its own, then those that import it, by the length of the way and
 * the distance in the tree, then those that start a program with it.
 */
export function nearestTests({
  files,
  tests,
  read
}: {
  files: readonly string[]
  tests: readonly string[]
  read: Read
}): (file: string) => NearTest[] {
  const graph = graphOf(files, read)
  const commands = commandsOf(files)
  const reaches = tests.map(test => ({ test, ...reachOf(test, { graph, commands, read }) }))
  return file =>
    reaches
      .filter(({ whole }) => whole.has(file))
      .map(({ test, near, whole }) => ({
        test,
        opensApp: whole.has('web/bundle.mjs'),
        opensBrowser: whole.has(opensAnyPage),
        isOwn: mirrorOf(file) === test,
        distance: (near.get(file) ?? longestWay) - sharedFolders(mirrorOf(file), test)
      }))
      .toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn) || a.distance - b.distance || a.test.localeCompare(b.test))
}

/** In imports. A test that starts a program counts as farther than any that imports the source. */
const longestWay = 100

function sharedFolders(a: string, b: string): number {
  const [one, other] = [a.split('/').slice(0, -1), b.split('/').slice(0, -1)]
  const differs = one.findIndex((folder, index) => folder !== other[index])
  return differs < 0 ? one.length : differs
}

function commandsOf(files: readonly string[]): string[] {
  return files.filter(file => /^bin\/commands\/[\w-]+\.ts$/.test(file))
}

/** What a test imports up to the ends, and everything that it can run. */
function reachOf(
  test: string,
  { graph, commands, read }: { graph: Graph; commands: readonly string[]; read: Read }
): { near: Reach; whole: Reach } {
  const near = reachFrom([test], graph, file => ends.test(file))
  const imported = [...near.keys()]
  return { near, whole: reachFrom([...imported, ...programsOf(imported, { commands, read })], graph) }
}

function reasonFor(
  test: string,
  { changed, near, met }: { changed: readonly string[]; near: Reach; met: readonly string[] }
): string | undefined {
  if (changed.includes(test)) return 'is changed'
  const mirrored = changed.find(file => mirrorOf(file) === test)
  if (mirrored !== undefined) return `is the test of ${mirrored}`
  const imported = changed.find(file => near.has(file))
  if (imported !== undefined) return `imports ${imported}`
  const started = met.find(file => isOfPart(file, test) && `${mirrorOf(file)}/`.startsWith(`${posix.dirname(test)}/`))
  return started && `starts a program with ${started}`
}

/** The path of a file's test: the tree of the tests mirrors the sources. */
function mirrorOf(file: string): string {
  return `test/${file.replace(/^(?:lib|test)\//, '').replace(/\.tsx?$/, '.test.ts')}`
}

function isOfPart(file: string, test: string): boolean {
  const part = (path: string) => parts.find(([, files]) => files.test(path))?.[0]
  return part(file) !== undefined && part(file) === part(test)
}

type Graph = ReadonlyMap<string, readonly string[]>
/** The files that are reached, with the number of imports on the shortest way. */
type Reach = ReadonlyMap<string, number>

/** The imports of each file, and the paths it has in quotes: a script it starts, a page or a folder it reads. */
function graphOf(files: readonly string[], read: Read): Graph {
  const known = new Set(files)
  const inFolder = new Map<string, string[]>()
  for (const file of files)
    for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder))
      inFolder.set(folder, [...(inFolder.get(folder) ?? []), file])
  const engines = files.filter(file => /^lib\/crypto\/(?:engine|signing)-/.test(file))
  return new Map(files.filter(isRead).map(file => [file, [...targetsOf(file)]]))

  function* targetsOf(file: string): Generator<string> {
    const text = read(file)
    for (const { specifier } of importsOf(file, text)) {
      const path = posix.join(posix.dirname(file), specifier)
      if (specifier.startsWith('.') && known.has(path)) yield path
      if (specifier.startsWith('#crypto-')) yield* engines
    }
    for (const [, name = ''] of text.matchAll(/['"]([\w.][\w./-]*)['"]/g)) yield* named(file, name)
    if (file === opensApp) yield 'web/bundle.mjs'
    // A test of a whole folder has its name.
    if (/^test\/[\w-]+\.test\.ts$/.test(file)) yield* inFolder.get(posix.basename(file, '.test.ts')) ?? []
  }

  function* named(file: string, name: string): Generator<string> {
    // The program reads its SQL by folder; all other file names are imports.
    if (name === 'sqlite/') yield* (inFolder.get('sqlite') ?? []).filter(each => each.endsWith('.sql'))
    if (!isTooling(file) && !file.endsWith('.css')) return
    if (builtApp.test(name)) yield 'web/bundle.mjs'
    if (name === 'build.mjs') yield 'bin/packaging/packaging.mjs'
    for (const path of [posix.normalize(name), posix.join(posix.dirname(file), name)].map(path => path.replace(/\/$/, ''))) {
      if (!path.includes('/')) continue
      if (known.has(path)) yield path
      if (name.includes('/')) yield* inFolder.get(path) ?? []
    }
  }
}

/** The programs that a test starts: the whole program if it names it; for the command line, the commands named in its files. */
function programsOf(near: readonly string[], { commands, read }: { commands: readonly string[]; read: Read }): string[] {
  const own = near.filter(file => file.startsWith('test/') && isSource(file)).map(read)
  if (!own.some(text => text.includes('bin/afield.ts'))) return []
  const words = new Set(own.flatMap(text => [...text.matchAll(/['"]([a-z-]+)['" ]/g)].map(([, word]) => word)))
  const started = commands.filter(file => words.has(posix.basename(file, '.ts')))
  // The daemon can start anything that the phone requests.
  const isAny = started.length === 0 || words.has('daemon')
  return ['bin/main.ts', ...(isAny ? commands : started)]
}

function reachFrom(starts: readonly string[], graph: Graph, isEnd: (file: string) => boolean = () => false): Reach {
  const reached = new Map(starts.map(file => [file, 0]))
  // The map grows while it is walked, so the nearest come first.
  for (const [next, distance] of reached) {
    if (isEnd(next)) continue
    for (const target of next === 'bin/commands.ts' ? [] : (graph.get(next) ?? []))
      if (!reached.has(target)) reached.set(target, distance + 1)
  }
  return reached
}

function isRead(file: string): boolean {
  return isSource(file) || file.endsWith('.css')
}

function isSource(file: string): boolean {
  return /\.(?:tsx?|mjs)$/.test(file)
}

function isTooling(file: string): boolean {
  return file.startsWith('test/') || file.endsWith('.mjs')
}
