import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { basename, extname, join, resolve, sep } from 'node:path'

/** The package of Happy's app in a folder with its sources: the folder itself, or the whole repository. Throws, with a sentence, when it is not there. */
export function findApp(folder: string): string {
  for (const place of [folder, join(folder, 'packages', 'happy-app')]) {
    const file = join(place, 'package.json')
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'happy-app') return resolve(place)
  }
  throw new Error(`${folder} has no sources of Happy's app: neither it nor packages/happy-app in it is the package happy-app.`)
}

interface Command {
  cwd: string
  run: readonly [string, ...string[]]
}

/**
 * In its repository everything is installed together, with the package manager that the root names, in that very version: a script of the root
 * then builds the package that the app shares with the CLI.
 */
export function buildCommands(app: string, out: string): Command[] {
  const above = join(app, '..', '..')
  const root = basename(join(app, '..')) === 'packages' && existsSync(join(above, 'package.json')) ? above : app
  const named = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager
  const manager: string = typeof named === 'string' ? (named.split('+')[0] ?? named) : byLock(root)
  const expo = ['expo', 'export', '--platform', 'web', '--output-dir', out]
  if (manager.startsWith('npm')) {
    return [
      { cwd: root, run: ['npm', 'install'] },
      { cwd: app, run: ['npx', ...expo] }
    ]
  }
  return [
    { cwd: root, run: ['npx', '--yes', manager, 'install'] },
    { cwd: app, run: ['npx', '--yes', manager, ...(manager.startsWith('pnpm') ? ['exec'] : []), ...expo] }
  ]
}

function byLock(root: string): string {
  if (existsSync(join(root, 'pnpm-lock.yaml'))) return 'pnpm'
  return existsSync(join(root, 'yarn.lock')) ? 'yarn@1' : 'npm'
}

/** Builds its web form into `out`. Nothing of its code is changed. */
export async function buildApp(app: string, out: string): Promise<void> {
  // With these its packages would be left out, or half built.
  const { NODE_ENV: _, SKIP_HAPPY_WIRE_BUILD: __, ...rest } = process.env
  const env = { ...rest, CI: '1', APP_ENV: 'production', EXPO_NO_TELEMETRY: '1' }
  for (const { cwd, run } of buildCommands(app, out)) {
    const [command, ...args] = run
    const [code] = await once(spawn(command, args, { cwd, env, stdio: 'inherit', shell: process.platform === 'win32' }), 'exit')
    if (code !== 0) throw new Error(`${run.join(' ')} ended with ${code}.`)
  }
}

/** Versions of the app before that take texts alone. */
export function hasPictures(app: string): boolean {
  return existsSync(join(app, 'sources', 'hooks', 'useImagePicker.ts'))
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
