import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** The esbuild plugin that splits the app so that no phone loads more than it uses, or more files than necessary. */
export function bundling(root, { isWhole = false } = {}) {
  const sourceAt = path => relative(root, path).split(sep).join('/')
  const load = source => JSON.stringify(join(root, source))
  return {
    name: 'afield',
    setup(build) {
      // esbuild splits chunks by which entry points share them. A chunk that is loaded later imports everything that is loaded by then, so that it
      // becomes one file, not fifty.
      build.onResolve({ filter: /^[./]/ }, ({ kind, path, resolveDir, importer }) => {
        if (path === laterRoutes && sourceAt(importer) === table) return { path, namespace: noRoutes, sideEffects: false }
        const source = sourceAt(resolve(resolveDir, path))
        if (kind === 'dynamic-import' && !isWhole && !isBeforeShell(source)) return { path: source, namespace: later }
        return source.startsWith('lib/') ? { path: join(root, source), sideEffects: false } : undefined
      })
      build.onLoad({ filter: /./, namespace: later }, ({ path }) => ({
        contents: [...foundations(path).map(each => `import ${load(each)}`), `export * from ${load(path)}`].join('\n'),
        resolveDir: root
      }))
      build.onLoad({ filter: /./, namespace: noRoutes }, () => ({ contents: 'export const pushRoutes = {}' }))
      // An import of one name from an index file becomes an import of the file that defines it, so that the others are not loaded.
      const places = Object.fromEntries(doors.map(door => [join(root, door), placesIn(join(root, door))]))
      build.onLoad({ filter: /[\\/](web|lib)[\\/].*\.tsx?$/, namespace: 'file' }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        const direct = text.replaceAll(namedImport, (whole, names, from) => {
          const door = resolve(dirname(path), from)
          return places[door] ? importsOf(names, name => placeOf(places, door, name)) : whole
        })
        const source = sourceAt(path)
        if (neverAsked.test(source)) return { contents: text.replace(/^(export const \w+Routes) = \{.*?^\}/ms, '$1 = {}'), loader: 'ts' }
        return { contents: direct, loader: path.endsWith('x') ? 'tsx' : 'ts' }
      })
      // Opening boxes needs a small part of the curves package, and signing nearly all. Boxes get their own copy, tree-shaken to that part.
      // Their names are relative: the hashes in the names of files depend on them, and must be the same wherever the app is built.
      build.onResolve({ filter: /^@noble\/curves\// }, ({ path, importer }) =>
        importer === join(root, boxes) ? { path: `node_modules/${path}`, namespace: forBoxes, sideEffects: false } : undefined
      )
      build.onResolve({ filter: /^\./, namespace: forBoxes }, ({ path, resolveDir }) => ({
        path: sourceAt(join(resolveDir, path)),
        namespace: forBoxes,
        sideEffects: false
      }))
      build.onLoad({ filter: /./, namespace: forBoxes }, ({ path }) => ({
        contents: readFileSync(join(root, path), 'utf8'),
        resolveDir: dirname(join(root, path))
      }))
    }
  }
}

/** The source file behind the name that esbuild gives to a chunk loaded later. */
export function sourceOf(entryPoint) {
  return entryPoint.startsWith(`${later}:`) ? entryPoint.slice(later.length + 1) : entryPoint
}

const later = 'later'
const noRoutes = 'no-routes'

// The language is loaded before anything is drawn, and the first script waits for the shell.
function isBeforeShell(source) {
  return source === 'web/app/main.tsx' || source.startsWith('web/words/')
}

const boxes = 'lib/crypto/engine-noble.ts'
const forBoxes = 'for-boxes'
const shell = 'web/app/app.tsx'
const link = 'web/model/account/live.ts'
const session = 'web/session/session.tsx'
/** Loaded on top of a session. */
const overSession = [
  'web/session/machine/resume-log.tsx',
  'web/session/mode/sheet.tsx',
  'web/session/work/side-changes.tsx',
  'web/session/work/work.tsx'
]
const foldersOverSession = /^web\/session\/(?!session\.)((log|menu|presence|decide)\/)?[\w-]+\.tsx?$/
/** Loaded before there is a link, or to open one. */
const beforeLink = [
  'web/home/pull-to-refresh.ts',
  'web/join/account-request.ts',
  'web/join/link.tsx',
  'web/model/account/key.ts',
  'web/model/account/live.ts',
  'web/model/account/sign-in-problem.ts'
]
const foldersBeforeLink = /^web\/(app|core|ui|session\/(composer|row|text|transcript))\//

/** What is always loaded before this entry point. */
function foundations(source) {
  if (overSession.includes(source) || foldersOverSession.test(source)) return [shell, link, session]
  return beforeLink.includes(source) || foldersBeforeLink.test(source) ? [shell] : [shell, link]
}

const doors = ['lib/client/index.ts', 'lib/crypto/index.ts']
const namedImport = /^import \{([^}]*)\} from '(\.[^']*\/index\.ts)'$/gm

/** Which file each export of an index file comes from. */
function placesIn(door) {
  const places = new Map()
  for (const [, names, from] of readFileSync(door, 'utf8').matchAll(/^export \{([^}]*)\} from '([^']+)'$/gm))
    for (const name of listed(names)) places.set(name, from.startsWith('.') ? join(dirname(door), from) : from)
  return places
}

function placeOf(places, door, name) {
  const place = places[door].get(name)
  return places[place] ? placeOf(places, place, name) : place
}

function importsOf(names, place) {
  return listed(names)
    .map(name => `import { ${name} } from ${JSON.stringify(place(name.split(' ')[0]))}`)
    .join('; ')
}

function listed(names) {
  return names
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && !name.startsWith('type '))
}

/** Routes for other clients. A test checks that the app calls none of them. */
export const neverAsked = /^lib\/protocol\/wire\/routes\/(access-keys|artifacts|kv-lists|unsupported|usage)\.ts$/
const table = 'lib/protocol/wire/routes.ts'
/** Called by few screens, which import them: the link's route table omits them. See `web/core/notification-routes.ts`. */
const laterRoutes = './routes/push.ts'
