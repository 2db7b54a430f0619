import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../../..')
// At least as strict as the app's own.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
const page =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Stories</title><link rel="stylesheet" href="/style.css"><link rel="icon" href="/icon"><body></body><script type="module" src="/page.js"></script></html>'

/** Bundles the stories into a folder and serves them; `/?story=name&theme=dark&dir=rtl&text=200%` draws one. */
export async function serveStories(out: string): Promise<{ origin: string; close(): void }> {
  await build({
    absWorkingDir: root,
    entryPoints: { page: 'test/web/stories/page.tsx', style: 'web/style/index.css' },
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'file' },
    logLevel: 'warning'
  })
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://stories').pathname
    const isFile = path === '/page.js' || path === '/style.css'
    const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html'
    response.writeHead(200, { 'content-type': type, 'content-security-policy': policy })
    response.end(isFile ? readFileSync(join(out, path)) : page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no address')
  return { origin: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}
