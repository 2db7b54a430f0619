import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pieceOf } from './pieces.ts'
import { rehearse } from './rehearsal.mjs'
import { emulatorOf, isThisMachine } from './target.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const at = (...parts) => join(root, ...parts)

// Names are not minified: errors contain them, and preserving them separately would cost time at each start.
const small = { minifySyntax: true, minifyWhitespace: true, lineLimit: 160 }
const bundled = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  logLevel: 'warning',
  ...small
}

/**
 * Bundles the single-file program into the pieces that bin/packaging/pieces.ts runs, one for each `import()` and for the code that several of
 * them share. Returns the file that starts it.
 */
export async function bundleProgram(folder) {
  const { build, transform, stop } = await import('esbuild')
  const start = join(folder, '..', 'start.cjs')
  await build({ ...bundled, entryPoints: ['bin/packaging/binary-start.ts'], outfile: start, format: 'cjs' })
  const { metafile } = await build({
    ...bundled,
    entryPoints: ['bin/packaging/binary.ts'],
    metafile: true,
    outdir: folder,
    // The only format that esbuild splits.
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    plugins: [embeddedPty, ownAssertions, ownWidths, withoutForge],
    // The first is loaded as an asset; the others are optional accelerators that `ws` does without.
    external: ['uWebSockets.js', 'bufferutil', 'utf-8-validate'],
    define: { 'import.meta.url': 'bundleUrl' }
  })
  refuseNamesOfCommonJs(metafile)
  writeFileSync(join(folder, '..', 'program.json'), JSON.stringify(metafile))
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const cjs = { ...small, format: 'cjs', platform: 'node', target: 'node24', supported: { 'dynamic-import': false } }
    const { code } = await transform(readFileSync(file, 'utf8'), cjs)
    writeFileSync(file, pieceOf(code))
  }
  await stop()
  return start
}

// When split, such a package has only a default export, and its named imports are undefined.
function refuseNamesOfCommonJs({ inputs }) {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const wrong = imports.find(({ kind, path }) => kind === 'dynamic-import' && inputs[path]?.format === 'cjs')
    if (wrong)
      throw new Error(`${file} imports ${wrong.original} when it runs, which is CommonJS. Let it import a file that imports that by name.`)
  }
}

/**
 * Stores V8's code cache next to each piece, since most of the start time of a program is spent compiling: for those
 * of `serve` and `claude`, all code that runs at their start, for the others the code that V8 compiles eagerly. V8
 * rejects the cache of another platform or architecture, so a target that cannot run here gets none and compiles at
 * each start. Returns the names of the pieces that neither start runs.
 */
export async function compilePieces(folder, target) {
  const emulator = emulatorOf(target)
  const names = readdirSync(folder)
  if (!emulator) return new Set()
  // If scripts cannot be run as programs there is no fake Claude Code.
  const isRehearsed = isThisMachine(target) && process.platform !== 'win32'
  if (isRehearsed) await rehearse(folder)
  const rare = names.filter(name => isRehearsed && !existsSync(join(folder, `${name}.compiled`)))
  const [program, ...words] = [...emulator, target.node, '--predictable', at('bin/packaging/compile-pieces.mjs'), folder]
  execFileSync(program, words, { stdio: 'inherit' })
  return new Set(rare)
}

// This package can load its addon only from a file next to it.
const embeddedPty = replaced({
  filter: /[\\/]zigpty[\\/]dist[\\/]index\.mjs$/,
  words: '= loadNative();',
  by: "= embeddedAddon('zigpty.node') ?? loadNative();",
  first: `import { embeddedAddon } from ${JSON.stringify(at('lib/assets.ts'))}\n`
})

// It offers an older implementation of its cryptography too, which we do not use: 0.4 of its 1.3 MB.
const withoutForge = replaced({
  filter: /[\\/]acme-client[\\/]src[\\/]index\.js$/,
  words: "exports.forge = require('./crypto/forge');",
  by: ''
})

// The modules that yargs loads at each start, and the cost of a start without the patch: `afield sessions`, 25 runs in turn, from compiled
// pieces. With both it is 190 to 240 ms of processor time on a busy machine, and 85 MB.

// For two comparisons it loads all the diff code of `assert`: 12 to 16 ms, and 0.5 MB.
const ownAssertions = replaced({
  filter: /[\\/]yargs[\\/]lib[\\/]platform-shims[\\/]esm\.mjs$/,
  words: "import { notStrictEqual, strictEqual } from 'assert'",
  by: `const claim = (isSo, message) => { if (!isSo) throw new Error(message) }
const strictEqual = (one, other, message) => claim(one === other, message)
const notStrictEqual = (one, other, message) => claim(one !== other, message)`
})

// To measure text it sets up a segmenter for all scripts of the world. Ours are English: 28 to 44 ms, and 2 MB.
const ownWidths = {
  name: 'own-widths',
  setup(build) {
    const filter = /[\\/]string-width[\\/]index\.js$/
    build.onLoad({ filter }, () => ({
      contents: `import { stripVTControlCharacters } from 'node:util'
import { widthOf } from ${JSON.stringify(at('lib/wrapper/terminal/style.ts'))}
export default text => widthOf(stripVTControlCharacters(text))`,
      loader: 'js'
    }))
  }
}

/** Replaces text in one file of a package. */
function replaced({ filter, words, by, first = '' }) {
  return {
    name: `replaced ${words}`,
    setup(build) {
      build.onLoad({ filter }, ({ path }) => {
        const source = readFileSync(path, 'utf8')
        if (!source.includes(words)) throw new Error(`${path} is another than bin/packaging/program.mjs expects: it lacks "${words}".`)
        return { contents: first + source.replace(words, by), loader: 'js' }
      })
    }
  }
}
