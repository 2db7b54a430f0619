import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** What esbuild has to be told about the app so that no phone loads more than it uses, or in more pieces than it needs. */
export function bundling(root, { isWhole = false } = {}) {
  const sourceAt = path => relative(root, path).split(sep).join('/')
  const load = source => JSON.stringify(join(root, source))
  return {
    name: 'afield',
    setup(build) {
      // Files are cut along who may need them. What is loaded later needs all that is there by then, so that this is one file and not fifty.
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
      // Who imports one name of a folder needs that file of it, and not every file that somebody else needs.
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
      // Opening boxes takes a small part of the curves, and signing nearly all. Boxes have a copy of their own, of which only that part stays.
      build.onResolve({ filter: /^@noble\/curves\// }, ({ path, importer }) =>
        importer === join(root, boxes) ? { path: join(root, 'node_modules', path), namespace: forBoxes, sideEffects: false } : undefined
      )
      build.onResolve({ filter: /^\./, namespace: forBoxes }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path),
        namespace: forBoxes,
        sideEffects: false
      }))
      build.onLoad({ filter: /./, namespace: forBoxes }, ({ path }) => ({
        contents: readFileSync(path, 'utf8'),
        resolveDir: dirname(path)
      }))
    }
  }
}

/** The source behind the name that esbuild gives to what is loaded later. */
export function sourceOf(entryPoint) {
  return entryPoint.startsWith(`${later}:`) ? entryPoint.slice(later.length + 1) : entryPoint
}

const later = 'later'
const noRoutes = 'no-routes'

// The language comes before everything that is drawn in it, and the shell is what the first script waits for.
function isBeforeShell(source) {
  return source === 'web/app/main.tsx' || source.startsWith('web/words/')
}

const boxes = 'lib/crypto/engine-noble.ts'
const forBoxes = 'for-boxes'
const shell = 'web/app/app.tsx'
const link = 'web/model/account/live.ts'
const session = 'web/session/session.tsx'
const overSession =
  /^web\/session\/((?!session\.)[\w-]+|(log|menu|presence|decide)\/[\w-]+|starting\/starting|work\/(work|side)|mode\/sheet)\.tsx?$/
/** Asked for before there is a link, or for it. */
const beforeLink =
  /^web\/((app|core|ui|session\/(composer|row|text|transcript))\/.*|home\/pull|join\/(link|asking-account)|model\/account\/(live|key|sign-in-problem))\.tsx?$/

/** What is there whenever this is asked for. */
function foundations(source) {
  if (overSession.test(source)) return [shell, link, session]
  return beforeLink.test(source) ? [shell] : [shell, link]
}

const doors = ['lib/client/index.ts', 'lib/crypto/index.ts']
const namedImport = /^import \{([^}]*)\} from '(\.[^']*\/index\.ts)'$/gm

/** Which file each name of a folder comes from. */
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

/** Routes for other clients. A test sees to it that nothing here asks for them. */
export const neverAsked = /^lib\/protocol\/wire\/routes\/(access-keys|artifacts|kv-lists|unoffered|usage)\.ts$/
const table = 'lib/protocol/wire/routes.ts'
/** Asked for by few screens, which bring them: the table of the link begins without them. See `web/core/notification-routes.ts`. */
const laterRoutes = './routes/push.ts'
