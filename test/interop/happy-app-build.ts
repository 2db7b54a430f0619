import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'

/** The package of Happy's app in a folder with its sources: the folder itself, or the whole repository. Throws, with a sentence, when it is not there. */
export function findApp(folder: string): string {
  for (const place of [folder, join(folder, 'packages', 'happy-app')]) {
    const file = join(place, 'package.json')
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'happy-app') return resolve(place)
  }
  throw new Error(`${folder} has no sources of Happy's app: neither it nor packages/happy-app in it is the package happy-app.`)
}

/** With the package manager that the sources were written for. */
export function buildCommands(app: string, out: string): string[][] {
  const locks = [app, join(app, '..', '..')].flatMap(folder =>
    ['pnpm', 'yarn'].filter(name => existsSync(join(folder, lockOf[name] ?? '')))
  )
  const manager = locks[0] ?? 'npm'
  return [
    [manager, 'install'],
    [
      manager === 'npm' ? 'npx' : manager,
      ...(manager === 'pnpm' ? ['exec'] : []),
      'expo',
      'export',
      '--platform',
      'web',
      '--output-dir',
      out
    ]
  ]
}

const lockOf: Record<string, string> = { pnpm: 'pnpm-lock.yaml', yarn: 'yarn.lock' }

/** Builds its web form into `out`. Nothing of its code is changed. */
export async function buildApp(app: string, out: string): Promise<void> {
  for (const [command = '', ...args] of buildCommands(app, out)) {
    const env = { ...process.env, CI: '1', APP_ENV: 'production' }
    const [code] = await once(spawn(command, args, { cwd: app, env, stdio: 'inherit' }), 'exit')
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`)
  }
}

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }

/** Serves what was built from an origin of its own, as a phone has it from a store: every path that is no file is its page. */
export async function serveApp(out: string): Promise<{ url: string; server: Server }> {
  const root = resolve(out)
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://app')
    const asked = resolve(root, `.${decodeURIComponent(pathname)}`)
    const isFile = asked.startsWith(root + sep) && existsSync(asked) && extname(asked) !== ''
    const file = isFile ? asked : join(root, 'index.html')
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream')
    response.end(readFileSync(file))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('A listening server has an address.')
  return { url: `http://127.0.0.1:${address.port}`, server }
}
