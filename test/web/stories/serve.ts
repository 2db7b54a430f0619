import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { translations } from './translations.ts'

const root = join(import.meta.dirname, '../../..')
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
 * Bundles the stories into a folder and serves them: `/?story=name` shows one of a session or its folder, `/?app=name` the whole app in one
 * of its states; with `theme=dark` and `dir=rtl` if requested.
 */
export async function serveStories(out: string): Promise<{ origin: string; close(): void }> {
  await build({
    absWorkingDir: root,
    entryPoints: { page: 'test/web/stories/first.ts', style: 'web/app/index.css' },
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'file' },
    define: { TRANSLATIONS: JSON.stringify(translations()) },
    logLevel: 'warning',
    plugins: [withoutServer]
  })
  const server = createServer((request, response) => {
    const { pathname: path } = new URL(request.url ?? '/', 'http://stories')
    const isFile = path === '/page.js' || path === '/style.css'
    const type = Object.entries(types).find(([end]) => path.endsWith(end))?.[1] ?? 'text/html'
    response.writeHead(200, { 'content-type': type, 'content-security-policy': policy })
    if (path === '/health') response.end('{"version":"0.1.0"}')
    else response.end(isFile ? readFileSync(join(out, path)) : page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  return { origin: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}
