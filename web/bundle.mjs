import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = (...parts) => join(root, ...parts)

// ES2022 and code splitting work back to Safari 16.4, the first with web push on a phone.
const forBrowsers = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  charset: 'utf8',
  target: ['es2022', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  // Otherwise a function missing from the app's small validator would only be noticed at run time.
  logOverride: { 'import-is-undefined': 'error' },
  metafile: true
}

/** Bundles the app into build/web. */
export async function bundleApp() {
  mkdirSync(at('build'), { recursive: true })
  const out = mkdtempSync(at('build/web-'))
  chmodSync(out, 0o755)
  try {
    await bundleAppInto(out)
  } catch (error) {
    rmSync(out, { recursive: true })
    if (!error.errors) throw error
    // esbuild has printed the errors and their places.
    console.error('The app could not be bundled.')
    process.exit(1)
  }
}

/** The app: scripts and styles named by content hash, then the page and the service worker that refer to them. */
async function bundleAppInto(out) {
  const { build, stop } = await import('esbuild')
  const { bundling, sourceOf } = await import('./bundling.mjs')
  const began = performance.now()
  // A worker loads its own script, so it shares no chunks with the page.
  const reader = await build({
    ...forBrowsers,
    entryPoints: { reader: 'web/app/text-worker.ts' },
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]'
  })
  const [readerFile] = Object.keys(reader.metafile.outputs)
  const { metafile } = await build({
    ...forBrowsers,
    plugins: [bundling(root)],
    entryPoints: { first: 'web/app/first.ts', style: 'web/app/index.css' },
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    publicPath: '/assets/',
    define: {
      VERSION: JSON.stringify(JSON.parse(readFileSync(at('package.json'), 'utf8')).version),
      READER: JSON.stringify(`/assets/${readerFile.slice(readerFile.lastIndexOf('/') + 1)}`)
    },
    splitting: true,
    loader: { '.svg': 'file', '.png': 'file', '.woff2': 'file' }
  })
  for (const output of Object.values(metafile.outputs)) if (output.entryPoint) output.entryPoint = sourceOf(output.entryPoint)
  const urlOf = output => `/assets/${output.slice(output.lastIndexOf('/') + 1)}`
  const outputOf = entry => Object.keys(metafile.outputs).find(output => metafile.outputs[output].entryPoint === entry)
  if (existsSync(at('web/public'))) cpSync(at('web/public'), out, { recursive: true })
  const first = scriptsOfFirstLoad(metafile, outputOf('web/app/first.ts'))
  // The first script imports the main one only once it knows the language; the browser can preload it meanwhile.
  const main = scriptsOfFirstLoad(metafile, outputOf('web/app/main.tsx')).filter(output => !first.includes(output))
  const preload = main.map(output => `<link rel="modulepreload" href="${urlOf(output)}">\n`).join('')
  const page = readFileSync(at('web/index.html'), 'utf8')
    .replaceAll('%PRELOAD%', preload)
    .replaceAll('%SCRIPT%', urlOf(outputOf('web/app/first.ts')))
    .replaceAll('%STYLE%', urlOf(outputOf('web/app/index.css')))
  writeFileSync(join(out, 'index.html'), page)
  writeFileSync(join(out, 'licences.txt'), licencesOf(metafile))

  const urls = filesUnder(out).map(file => `/${relative(out, file).split(sep).join('/')}`)
  // A service worker cannot load anything later.
  await build({
    ...forBrowsers,
    plugins: [bundling(root, { isWhole: true })],
    // Rendering is left to the pages.
    alias: { '@preact/signals': '@preact/signals-core' },
    entryPoints: { worker: 'web/app/worker/worker.ts' },
    outdir: out,
    define: { ASSETS: JSON.stringify(urls), BUILD: JSON.stringify(contentHash(out)) }
  })
  await stop()
  replaceDirectory(at('build/web'), out)
  // The content of each script, for the test of the size budgets.
  writeFileSync(at('build/app.json'), JSON.stringify(metafile.outputs))
  const files = [...first, ...main].map(output => readFileSync(at('build/web/assets', output.slice(output.lastIndexOf('/') + 1))))
  const packed = files.reduce((sum, file) => sum + brotliCompressSync(file).length, 0)
  console.log(`app bundled in ${Math.round(performance.now() - began)} ms; first script ${kB(packed)} compressed`)
}

function scriptsOfFirstLoad({ outputs }, first, seen = new Set()) {
  if (seen.has(first)) return [...seen]
  seen.add(first)
  for (const { path, kind } of outputs[first].imports) if (kind === 'import-statement') scriptsOfFirstLoad({ outputs }, path, seen)
  return [...seen]
}

/** The licence of every package with code in a bundle, and of the app's icons. */
export function licencesOf({ inputs }) {
  const parts = packageFoldersOf(inputs).map(folder => {
    const { name, version, license } = JSON.parse(readFileSync(at(folder, 'package.json'), 'utf8'))
    const file = readdirSync(at(folder)).find(each => /^licen[cs]e/i.test(each))
    return `${name} ${version}, ${license}\n\n${file ? readFileSync(at(folder, file), 'utf8').trim() : ''}`
  })
  const icons = readFileSync(at('web/ui/icons/LICENSE-lucide.txt'), 'utf8').trim()
  return [`Afield\n\n${readFileSync(at('LICENSE'), 'utf8').trim()}`, ...parts, `Icons by Lucide\n\n${icons}`].join(
    `\n\n${'-'.repeat(72)}\n\n`
  )
}

/** The folders, sorted, of the packages among the sources that esbuild names in its metafile; one can be inside another. */
export function packageFoldersOf(inputs) {
  const folderOf = source => source.match(/^(?:[\w-]+:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)/)?.[1] ?? []
  return [...new Set(Object.keys(inputs).flatMap(folderOf))].sort()
}

function contentHash(directory) {
  const hash = createHash('sha256')
  for (const file of filesUnder(directory)) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

export const appSources = ['web', 'lib/client', 'lib/crypto', 'lib/protocol', 'lib/async']

export function isAppStale() {
  const built = statSync(at('build/web/index.html'), { throwIfNoEntry: false })
  if (!built) return true
  return [...appSources, 'package-lock.json'].some(source => newestChange(at(source)) > built.mtimeMs)
}

// A directory's own time counts too: it changes when a file in it is removed.
function newestChange(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return 0
  if (!stats.isDirectory()) return stats.mtimeMs
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestChange(join(path, name))), stats.mtimeMs)
}

export function filesUnder(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .toSorted()
}

function replaceDirectory(directory, fresh) {
  const old = `${fresh}-old`
  if (existsSync(directory)) renameSync(directory, old)
  renameSync(fresh, directory)
  rmSync(old, { recursive: true, force: true })
}

export function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}
