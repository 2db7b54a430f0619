import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleApp, filesUnder, isAppStale, kB, licencesOf } from '../../web/bundle.mjs'
import { emulatorOf, isThisMachine, thisMachine } from './target.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const at = (...parts) => join(root, ...parts)
const require = createRequire(import.meta.url)
const isWindows = process.platform === 'win32'

/** The folders with the SQL of our stores. */
const drivers = ['sqlite', 'postgres']

const forNode = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node22', legalComments: 'none', logLevel: 'warning' }

/** The package for embedders: ES modules that leave their dependencies to npm, with declarations, the SQL, the app and the pages. */
export async function library() {
  const { build, stop } = await import('esbuild')
  rmSync(at('dist'), { recursive: true, force: true })
  const manifest = libraryManifest()
  const external = Object.keys(manifest.dependencies)
  const esm = { ...forNode, format: 'esm', external, splitting: true, chunkNames: 'chunk-[hash]', sourcemap: true, metafile: true }
  const programs = { library: 'lib/index.ts', 'node-version': 'lib/node-version.ts', afield: 'bin/afield.ts' }
  const { metafile } = await build({ ...esm, entryPoints: { ...programs, ...doors }, outdir: 'dist/lib' })
  // An older Node.js must say so in one sentence, before it loads a package that it cannot run.
  writeFileSync(at('dist/lib/index.js'), "import './node-version.js'\nexport * from './library.js'\n")
  const { client, protocol } = doors
  await build({ ...esm, platform: 'browser', entryPoints: { client, protocol }, outdir: 'dist/browser' })
  await stop()
  declarations()
  for (const driver of drivers)
    for (const name of readdirSync(at(driver))) if (name.endsWith('.sql')) cpSync(at(driver, name), at('dist', driver, name))
  cpSync(at('build/web'), at('dist/web'), { recursive: true })
  for (const file of ['LICENSE', 'CHANGELOG.md']) cpSync(at(file), at('dist', file))
  const { helpPages } = await import('../../lib/help-pages.ts')
  const wanted = new Set([...pages, ...helpPages.map(page => `${page}.md`)])
  for (const part of ['examples', ...[...wanted].map(page => `docs/${page}`)]) cpSync(at(part), at('dist', part), { recursive: true })
  writeFileSync(at('dist/README.md'), fromAbove(readFileSync(at('docs/package.md'), 'utf8')))
  writeFileSync(at('dist/licences.txt'), licencesOf(metafile))
  writeFileSync(at('dist/package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  console.log(`dist/ ${kB(filesUnder(at('dist')).reduce((sum, file) => sum + statSync(file).size, 0))}`)
}

/** What can be imported from the package besides the server. */
const doors = { client: 'lib/client/index.ts', protocol: 'lib/protocol/index.ts', contracts: 'test/contracts/index.ts' }

/** The pages that concern who uses the package, besides those that the program itself shows. */
const pages = ['embedding.md', 'api.md', 'protocol.md', 'releasing.md', 'decisions']

/** A page of `docs/` whose links hold one folder higher. */
function fromAbove(page) {
  return page.replaceAll(/\]\((?=[\w-]+\.md)/g, '](docs/').replaceAll('](../', '](')
}

function libraryManifest() {
  const { name, version, description, keywords, license, type, engines, dependencies } = JSON.parse(
    readFileSync(at('package.json'), 'utf8')
  )
  const declared = source => `./types/${source.replace(/\.ts$/, '.d.ts')}`
  return {
    name,
    version,
    description,
    keywords,
    license,
    type,
    engines,
    exports: {
      '.': { types: declared('lib/index.ts'), default: './lib/index.js' },
      './client': { types: declared(doors.client), browser: './browser/client.js', default: './lib/client.js' },
      './protocol': { types: declared(doors.protocol), browser: './browser/protocol.js', default: './lib/protocol.js' },
      './contracts': { types: declared(doors.contracts), default: './lib/contracts.js' },
      './package.json': './package.json'
    },
    // Named by declarations only: the code was bundled with the one or the other.
    imports: {
      '#crypto-engine': { types: declared('lib/crypto/engine-sodium.ts') },
      '#crypto-signing': { types: declared('lib/crypto/engine-sodium.ts') }
    },
    bin: { [name]: 'lib/afield.js' },
    files: ['lib', 'browser', 'types', ...drivers, 'web', 'docs', 'examples', 'licences.txt', 'CHANGELOG.md'],
    sideEffects: ['./lib/index.js', './lib/node-version.js', './lib/afield.js'],
    dependencies
  }
}

function declarations() {
  const config = at('build/tsconfig.json')
  const compilerOptions = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: '..', outDir: '../dist/types' }
  const files = ['lib/index.ts', ...Object.values(doors)].map(source => `../${source}`)
  writeFileSync(config, JSON.stringify({ extends: '../tsconfig.json', files, include: [], exclude: [], compilerOptions }))
  execFileSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', config], { stdio: 'inherit' })
}

/**
 * One executable: a copy of the target's Node.js with the bundle, the native addons, the SQL and the app inside. Its
 * Node.js must be of the version that runs this. `releaseKey` is the public key of whoever may release upgrades; without one it
 * cannot upgrade itself. `version` is that of package.json, unless an upgrade between two versions of the same sources is tried.
 */
export async function binary(
  target = thisMachine,
  { executable = at('build', isWindows ? 'afield.exe' : 'afield'), releaseKey, version } = {}
) {
  if (isAppStale()) await bundleApp()
  const work = workOf(target)
  rmSync(work, { recursive: true, force: true })
  const pieces = join(work, 'program')
  mkdirSync(pieces, { recursive: true })
  // Only now, because it needs the pinned Node.js.
  const { bundleProgram, compilePieces } = await import('./program.mjs')
  const start = await bundleProgram(pieces)
  await writeUws(work, target)
  const rare = await compilePieces(pieces, target)
  const { helpPages } = await import('../../lib/help-pages.ts')
  const assets = assetsOfProgram(pieces, target, helpPages)
  if (releaseKey) {
    writeFileSync(join(work, 'release-key.pub'), releaseKey)
    assets['release-key.pub'] = join(work, 'release-key.pub')
  }
  if (version) {
    const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'))
    writeFileSync(join(work, 'package.json'), JSON.stringify({ ...manifest, version }))
    assets['package.json'] = join(work, 'package.json')
  }
  const isRare = name => /^(web|docs)\//.test(name) || rare.has(name.replace(/^program\//, '').replace(/\.compiled$/, ''))
  await pack(work, { start, assets: await compressed(work, assets, isRare), target, executable })
  console.log(`${relative(root, executable)} ${(statSync(executable).size / 1e6).toFixed(1)} MB`)
}

/** Puts the files into the Node.js as its documentation of single executable applications says. */
async function pack(work, { start, assets, target, executable }) {
  const blob = join(work, 'sea.blob')
  // The program contains this name of its first file; a relative one is the same wherever it is built.
  const config = { main: relative(work, start), output: 'sea.blob', disableExperimentalSEAWarning: true, assets }
  writeFileSync(join(work, 'sea.json'), JSON.stringify(config))
  execFileSync(process.execPath, ['--experimental-sea-config', 'sea.json'], { cwd: work, stdio: 'pipe' })
  cpSync(strippedNode(work, target), executable)
  const isMac = target.platform === 'darwin'
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : []
  const words = [executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', sentinelFuse, '--overwrite', ...segment]
  // As a program, so that its warnings about names of sections, which do not matter, can be dropped.
  execFileSync(process.execPath, [require.resolve('postject/dist/cli.js'), ...words], { stdio: 'pipe' })
  if (isMac) signForMac(executable)
  chmodSync(executable, 0o755)
}

/** A signature without a name, which Macs with Apple silicon require of every program. */
function signForMac(executable) {
  try {
    require('pkg/lib-es5/mach-o').signMachOExecutable(executable)
  } catch {
    console.log(`${executable} is not signed, which needs codesign of macOS, or ldid. Macs with Apple silicon refuse to run it.`)
  }
}

const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** A copy of the Node.js without its symbols, a seventh of its size, which only a debugger reads. The program must still run. */
function strippedNode(work, target) {
  const node = join(work, target.platform === 'win32' ? 'node.exe' : 'node')
  cpSync(target.node, node)
  if (target.platform !== 'linux') return node
  try {
    execFileSync(stripFor(target), [node], { stdio: 'pipe' })
    const [program, ...words] = [...(emulatorOf(target) ?? ['true']), node, '--version']
    execFileSync(program, words, { stdio: 'pipe' })
  } catch {
    console.log('The program keeps its symbols, 18 MB: strip of binutils is missing or failed.')
    cpSync(target.node, node)
  }
  return node
}

/** The strip of binutils knows only its own architecture; that of LLVM knows all. */
function stripFor(target) {
  return isThisMachine(target) ? 'strip' : 'llvm-strip'
}

/** The network library as the program contains it, which also runs on an older glibc. */
async function writeUws(work, target) {
  const { lowerGlibcVersion } = await import('../../lib/server/edge/listen/glibc.ts')
  const uws = trustedUws(target)
  writeFileSync(join(work, 'uws.node'), lowerGlibcVersion(uws) ?? uws)
}

function assetsOfProgram(pieces, target, pages) {
  const assets = { 'package.json': at('package.json') }
  for (const page of pages) assets[`docs/${page}.md`] = at('docs', `${page}.md`)
  for (const { name, file } of addonsOf(target)) assets[`native/${name}`] = file
  for (const name of readdirSync(pieces).toSorted()) assets[`program/${name}`] = join(pieces, name)
  for (const driver of drivers)
    for (const file of filesUnder(at(driver))) if (file.endsWith('.sql')) assets[`${driver}/${relative(at(driver), file)}`] = file
  for (const file of filesUnder(at('build/web'))) assets[`web/${relative(at('build/web'), file).split(sep).join('/')}`] = file
  return assets
}

/** The native addons in a program that was made for the target, with the packages that they are of. */
export function addonsOf(target) {
  const { platform, arch } = target
  const prebuilt = { zigpty: `zigpty.${platform}-${arch}.node`, 'better-sqlite3': `${platform}-${arch}.node` }
  const fileOf = name => at('node_modules', name, 'prebuilds', prebuilt[name])
  return [
    { name: 'uws.node', package: 'uWebSockets.js', file: join(workOf(target), 'uws.node') },
    { name: 'zigpty.node', package: 'zigpty', file: fileOf('zigpty') },
    { name: 'better_sqlite3.node', package: 'better-sqlite3', file: fileOf('better-sqlite3') }
  ]
}

/** Where a program is put together; `program.json` there lists the sources of its code. */
export function workOf(target) {
  return at('build/binary', target.name)
}

/**
 * The assets, with the rarely read ones compressed, under the names that bin/packaging/packed-assets.ts expects. All others
 * would save another 10 MB, but cost every start: docs/benchmarks.md.
 */
async function compressed(work, assets, isRare) {
  // Only now, because Node.js 20 has none.
  const { constants, zstdCompressSync } = await import('node:zlib')
  const entries = Object.entries(assets).map(([name, file]) => {
    if (!isRare(name)) return [name, file]
    const bytes = readFileSync(file)
    // The length keeps the memory for reading it as small as the file.
    const small = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 17 }, pledgedSrcSize: bytes.length })
    if (small.length > 0.9 * bytes.length) return [name, file]
    const path = join(work, 'packed', `${name}.zst`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, small)
    return [`${name}.zst`, path]
  })
  return Object.fromEntries(entries)
}

// uWebSockets.js is not on npm under its own name; docs/decisions/0002-uwebsockets.md says where these come from.
const uwsSha256 = {
  linux_x64_137: '9aa8b857ac4ab0bfb1245e948eeeacc904b13a3608c9a281d551c43c66bea66e',
  linux_arm64_137: 'ad0ffb42a119ee022ba1fc752d942e5a19b863ce47bfdc909cd1d5bc1363a7a6'
}

function trustedUws({ platform, arch }) {
  const build = `${platform}_${arch}_${process.versions.modules}`
  const bytes = readFileSync(at(`node_modules/uWebSockets.js/uws_${build}.node`))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (uwsSha256[build] !== undefined && uwsSha256[build] !== sha256)
    throw new Error(`uws_${build}.node is not the reviewed one: its SHA-256 is ${sha256}.`)
  return bytes
}
