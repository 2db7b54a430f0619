import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import { translations } from './translations.ts'

const root = join(import.meta.dirname, '../../..')
const bundleFile = join(root, 'node_modules/.cache/stories.json')
// At least as strict as the app's own.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
const types = { '.js': 'text/javascript', '.css': 'text/css', health: 'application/json' }
const page =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Stories</title><link rel="stylesheet" href="/style.css"><link rel="icon" href="/icon"><body></body><script type="module" src="/page.js"></script></html>'

// The actual app, except for what it would request from a server.
const withoutServer: Plugin = {
  name: 'without-server',
  setup(bundle) {
    bundle.onResolve({ filter: /\/(live|pairing|account-request)\.ts$/ }, ({ path, importer }) => {
      const isOwn = importer.startsWith(join(root, 'web'))
      return isOwn ? { path: join(root, 'test/web/stories/app', path.slice(path.lastIndexOf('/') + 1)) } : undefined
    })
  }
}

/**
 * Serves the stories: `/?story=name` shows one of a session or its folder, `/?app=name` the whole app in one
 * of its states; with `theme=dark` and `dir=rtl` if requested.
 */
export async function serveStories(): Promise<{ origin: string; close(): void }> {
  const files = await bundledStories()
  const server = createServer((request, response) => {
    const { pathname: path } = new URL(request.url ?? '/', 'http://stories')
    const type = Object.entries(types).find(([end]) => path.endsWith(end))?.[1] ?? 'text/html'
    response.writeHead(200, { 'content-type': type, 'content-security-policy': policy })
    if (path === '/health') response.end('{"version":"0.1.0"}')
    else response.end(files[path] ?? page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  return { origin: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}

/** What a bundle was made of, as digests by path, and its files by the path that they are served at. */
interface Bundle {
  words: string
  sources: Record<string, string>
  files: Record<string, string>
}

/** Some thirty test files need the same bundle: it is made again only after something in it has changed. */
async function bundledStories(): Promise<Bundle['files']> {
  const words = JSON.stringify(translations())
  const kept = keptBundle()
  if (kept && kept.words === words && Object.entries(kept.sources).every(([path, digest]) => digestOf(path) === digest)) return kept.files
  const { build } = await import('esbuild')
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: 'test/web/stories/first.ts', style: 'web/app/index.css' },
    outdir: root,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'file' },
    define: { TRANSLATIONS: words },
    logLevel: 'warning',
    plugins: [withoutServer]
  })
  // This file has the settings, and another esbuild may bundle differently.
  const paths = [...Object.keys(metafile.inputs), relative(root, import.meta.filename), 'package-lock.json']
  const made: Bundle = {
    words,
    sources: Object.fromEntries(paths.map(path => [path, digestOf(path) ?? ''])),
    files: Object.fromEntries(outputFiles.map(({ path, text }) => [`/${basename(path)}`, text]))
  }
  mkdirSync(dirname(bundleFile), { recursive: true })
  // Test files run beside each other.
  const draft = `${bundleFile}-${process.pid}`
  writeFileSync(draft, JSON.stringify(made))
  renameSync(draft, bundleFile)
  return made.files
}

function keptBundle(): Bundle | undefined {
  return existsSync(bundleFile) ? JSON.parse(readFileSync(bundleFile, 'utf8')) : undefined
}

function digestOf(path: string): string | undefined {
  const file = join(root, path)
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined
}
