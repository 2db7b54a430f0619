import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CannotStart } from '../../../exit.ts'
import * as v from '../../../schema.ts'
import { makePrivateFolder } from '../../home/private-files.ts'

/** Its license keeps it out of this repository and the single-file program, and so does that of its SDK. */
export const claudeAdapter = { name: '@agentclientprotocol/claude-agent-acp', version: '0.100.0' }

/** The adapter's program file: among Afield's own packages, or fetched earlier. Never the working folder's. */
export function findAdapter(home: string): string | undefined {
  const beside = createRequire(import.meta.url).resolve.paths(claudeAdapter.name) ?? []
  return [...beside, modulesIn(home)].map(programIn).find(file => file !== undefined)
}

/** Fetches the adapter, without its install scripts. Throws CannotStart with npm's last lines. */
export async function fetchAdapter({
  npm,
  home,
  env
}: {
  npm: string
  home: string
  env: Readonly<Record<string, string | undefined>>
}): Promise<string> {
  const folder = join(home, 'agents')
  makePrivateFolder(folder)
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
  const what = `${claudeAdapter.name}@${claudeAdapter.version}`
  // Its optional packages are a second copy of Claude Code, which the person already has.
  await run(npm, ['install', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', what], folder, env)
  const program = findAdapter(home)
  if (program === undefined) throw new CannotStart(`npm installed ${what}, but its program is missing from ${folder}.`)
  return program
}

function modulesIn(home: string): string {
  return join(home, 'agents', 'node_modules')
}

function programIn(modules: string): string | undefined {
  const manifest = join(modules, ...claudeAdapter.name.split('/'), 'package.json')
  if (!existsSync(manifest)) return undefined
  const { bin } = v.parse(packageShape, JSON.parse(readFileSync(manifest, 'utf8')))
  const file = typeof bin === 'string' ? bin : Object.values(bin)[0]
  return file === undefined ? undefined : join(dirname(manifest), file)
}

const packageShape = v.object({ bin: v.union([v.string(), v.record(v.string(), v.string())]) })

function run(
  command: string,
  args: readonly string[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'], shell: process.platform === 'win32' })
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', text => (complaints = (complaints + text).slice(-2000)))
    child.once('error', error => reject(new CannotStart(`npm could not be started: ${error.message}`)))
    child.once('close', code => {
      if (code === 0) resolve()
      else reject(new CannotStart(`npm could not install ${args.at(-1)}:\n${complaints.trim()}`))
    })
  })
}
