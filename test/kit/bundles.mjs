import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const asModule = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node22', format: 'esm', logLevel: 'warning' }

/**
 * Bundles the program for the tests of one run, because Node.js takes a third of a second to load its 700 modules. The
 * bundle behaves as the sources do. Returns the file that starts it. It is removed when this process
 * ends, also by a signal of the run.
 */
export async function bundleProgram() {
  const { build } = await import('esbuild')
  // Below node_modules, where its packages are found.
  const folder = join(root, 'node_modules/.cache/program', String(process.pid))
  mkdirSync(folder, { recursive: true })
  await build({
    ...asModule,
    packages: 'external',
    splitting: true,
    entryPoints: { afield: 'bin/afield.ts' },
    outdir: folder,
    plugins: [inPlaceOf(/\.ts$/)]
  })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'afield.js')
}

/**
 * The 280 modules of tap as one, which every test file loads: a sixth of a second of processor time less for each. Returns its
 * file, which stays in place of itself: another run may be using it.
 */
export async function bundleTap() {
  // Where tap knows its own frames in a stack, which it leaves out.
  const file = join(root, 'node_modules/.cache/node_modules/@tapjs/tap.mjs')
  const { build } = await import('esbuild')
  const unfinished = `${file}.${process.pid}`
  await build({
    ...asModule,
    stdin: { contents: "export * from 'tap'; export { default } from 'tap'", resolveDir: root },
    outfile: unfinished,
    // Of its modules in CommonJS.
    banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)" },
    plugins: [inPlaceOf(/\.m?js$/)]
  })
  renameSync(unfinished, file)
  return file
}

/** Each module in the bundle knows the place of its source. */
const inPlaceOf = filter => ({
  name: 'in-place-of-sources',
  setup({ onLoad }) {
    onLoad({ filter }, ({ path }) => {
      const place = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path }
      const contents = readFileSync(path, 'utf8').replaceAll(/import\.meta\.(url|dirname|filename)\b/g, (_, name) =>
        JSON.stringify(place[name])
      )
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
    })
  }
})
