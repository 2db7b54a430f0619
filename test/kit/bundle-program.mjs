import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Bundles the program for the tests of one run, because Node.js takes a third of a second to load its 700 modules. Each module knows
 * the place of its source, so the bundle behaves as the sources do. Returns the file that starts it. It is removed when this process
 * ends, also by a signal of the run.
 */
export async function bundleProgram() {
  const { build } = await import('esbuild')
  // Below node_modules, where its packages are found.
  const folder = join(root, 'node_modules/.cache/program', String(process.pid))
  mkdirSync(folder, { recursive: true })
  await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    packages: 'external',
    splitting: true,
    entryPoints: { afield: 'bin/afield.ts' },
    outdir: folder,
    logLevel: 'warning',
    plugins: [inPlaceOfSources]
  })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'afield.js')
}

const inPlaceOfSources = {
  name: 'in-place-of-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const place = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path }
      const contents = readFileSync(path, 'utf8').replaceAll(/import\.meta\.(url|dirname|filename)\b/g, (_, name) =>
        JSON.stringify(place[name])
      )
      return { contents, loader: 'ts' }
    })
  }
}
