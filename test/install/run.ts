import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
// @ts-expect-error it has no types
import { debianPackage } from '../../bin/packaging/deb.mjs'
import { runRounds } from '../crash/rounds.ts'
import { copyOf, debianRoot, librariesOf, rootsProblem } from './roots.ts'

// node build.mjs install [--suites bookworm,trixie] [--only alone,package,boot,container] [--rounds 10] [--program build/afield]
// Installs and runs the single file and the Debian package in systems of their own, which debootstrap makes once; needs root.
const { values } = parseArgs({
  options: {
    suites: { type: 'string', default: 'bookworm,trixie' },
    only: { type: 'string', default: 'alone,package,boot,container' },
    rounds: { type: 'string', default: '10' },
    program: { type: 'string', default: 'build/afield' },
    roots: { type: 'string', default: join(tmpdir(), 'afield-install') }
  }
})
const here = import.meta.dirname
const { roots, program } = values
const problem = rootsProblem() ?? (existsSync(program) ? undefined : `${program} is missing: node build.mjs binary`)
if (problem) throw new Error(problem)

const askHealth = `exec 3<>/dev/tcp/127.0.0.1/3005 && printf 'GET /health HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && cat <&3`
// A child of this would go on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const made: string[] = []
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})
const proofs = { alone: runAlone, package: installPackage, boot: bootPackage, container: runContainer }
let bothPackages: [string, string] | undefined
let failures = 0
for (const suite of values.suites.split(',')) {
  for (const name of values.only.split(',') as (keyof typeof proofs)[]) {
    try {
      console.log(`${suite} ${name}: ${await proofs[name](suite)}`)
    } catch (error) {
      failures += 1
      console.log(`${suite} ${name}: FAILED, ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
process.exitCode = failures > 0 ? 1 : 0

/** The file in a root with the C and C++ libraries only, as a user without rights, with an empty PATH and a HOME that is read-only. */
async function runAlone(suite: string): Promise<string> {
  const root = librariesOf(debianRoot(roots, suite), `${suite}-libraries`)
  copyFileSync(program, join(root, 'afield'))
  const tmp = directory('tmp')
  const data = directory('data')
  const launcher = launcherOf([join(here, 'enter.sh'), root, '1000', tmp, data, '/afield'])
  const seen = await serve([launcher, 'serve', '--port', '0', '--data', data], async url => {
    await journey(url)
  })
  const report = await runRounds({ data, program: [launcher], rounds: Number(values.rounds), seed: 7 })
  if (report.complaints.length > 0) throw new Error(report.complaints.join('; '))
  const journeys = ['first-slice', 'first-run'].map(name => {
    const env = { ...process.env, AFIELD_TEST_PROGRAM: launcherOf(['sh', join(here, 'enter-anywhere.sh'), root, tmp]), TAP_TIMEOUT: '240' }
    const { status, stdout } = spawnSync(process.execPath, [`test/journeys/${name}.test.ts`], { encoding: 'utf8', env })
    if (status !== 0)
      throw new Error(
        `the journey ${name} failed:\n${stdout
          .split('\n')
          .filter(line => line.includes('not ok'))
          .join('\n')}`
      )
    return `${name} ${/# \{ total: \d+, pass: \d+/.exec(stdout)?.[0].slice(4) ?? ''}`
  })
  // Directories of data are mounted on empty ones in it.
  const left = readdirSync(tmp, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory() || entry.name.startsWith('afield-addon-'))
    .map(({ name }) => name)
  if (left.length > 0) throw new Error(`left in the temporary directory: ${left.join(', ')}`)
  const { length } = execFileSync('find', [root, '-type', 'f'], { encoding: 'utf8' }).trim().split('\n')
  return `${seen}; ${report.rounds} kills, ${report.answered} answered messages all there; ${journeys.join('; ')}; nothing left behind (the root has ${length} files)`
}

/** The package is installed, updated, removed and purged, and its unit's command run as its user. */
async function installPackage(suite: string): Promise<string> {
  const root = copyOf(debianRoot(roots, suite, ['adduser']), `${suite}-package`)
  const [older, newer] = packages()
  const inRoot = (...command: string[]) =>
    execFileSync('chroot', [root, ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const install = (file: string) => {
    copyFileSync(file, join(root, 'package.deb'))
    inRoot('dpkg', '--install', '/package.deb')
  }
  const data = join(root, 'var/lib/afield')
  const run = () => {
    const [, words = ''] = /^ExecStart=(.*)$/m.exec(readFileSync(join(root, 'usr/lib/systemd/system/afield.service'), 'utf8')) ?? []
    const command = words.split(' ').map(word => JSON.parse(word))
    const user = inRoot('id', '--user', 'afield').trim()
    return serve(
      [
        'chroot',
        `--userspec=${user}:${inRoot('id', '--group', 'afield').trim()}`,
        root,
        'env',
        '-i',
        'HOME=/var/lib/afield',
        ...command,
        '--port',
        '0'
      ],
      journey
    )
  }
  install(older)
  const first = await run()
  writeFileSync(join(root, 'etc/afield/afield.toml'), '\n# mine\n', { flag: 'a' })
  install(newer)
  if (!readFileSync(join(root, 'etc/afield/afield.toml'), 'utf8').includes('# mine')) throw new Error('the update overwrote the options')
  const version = /^Version: (.*)$/m.exec(inRoot('dpkg', '--status', 'afield'))?.[1]
  const second = await run()
  inRoot('dpkg', '--remove', 'afield')
  if (!existsSync(join(data, 'afield.db'))) throw new Error('removing the package removed the data')
  if (existsSync(join(root, 'usr/bin/afield'))) throw new Error('the program is still there')
  inRoot('dpkg', '--purge', 'afield')
  const left = ['var/lib/afield', 'var/log/afield', 'etc/afield', 'etc/systemd/system/multi-user.target.wants/afield.service'].filter(
    path => existsSync(join(root, path))
  )
  if (left.length > 0) throw new Error(`purging left ${left.join(', ')}`)
  return `installed, ${first}; updated to ${version}, ${second}; removed, data kept; purged, nothing left`
}

/** The same under the system's own systemd, with all restrictions of the unit. */
async function bootPackage(suite: string): Promise<string> {
  const root = copyOf(debianRoot(roots, suite, ['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'adduser']), `${suite}-boot`)
  const [older, newer] = packages()
  for (const [index, file] of [older, newer].entries()) copyFileSync(file, join(root, `package-${index}.deb`))
  copyFileSync(program, join(root, 'usr/local/bin/afield'))
  chmodSync(join(root, 'usr/local/bin/afield'), 0o755)
  const booted = spawn(join(here, 'boot.sh'), [root], { stdio: 'ignore' })
  process.once('exit', () => booted.kill('SIGKILL'))
  try {
    const pid = await firstChildOf(booted.pid ?? 0)
    const inside = (...command: string[]) =>
      execFileSync('nsenter', ['--target', String(pid), '--all', ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    const state = await until(() => /^(?:running|degraded)/.exec(tolerant(() => inside('systemctl', 'is-system-running')))?.[0])
    const healthy = () => until(() => (tolerant(() => inside('/bin/bash', '-c', askHealth)).includes('"status":"ok"') ? true : undefined))
    const active = () => inside('systemctl', 'show', '--property=ActiveState,NRestarts', 'afield').trim().replace('\n', ' ')
    inside('dpkg', '--install', '/package-0.deb')
    await healthy()
    const first = active()
    inside('dpkg', '--install', '/package-1.deb')
    await healthy()
    inside('dpkg', '--purge', 'afield')
    inside('/usr/local/bin/afield', 'service', 'install')
    await healthy()
    const second = active()
    inside('/usr/local/bin/afield', 'service', 'uninstall')
    if (!existsSync(join(root, 'var/lib/afield/afield.db'))) throw new Error('uninstalling removed the data')
    return `systemd ${state}; the package ${first}, updated, purged; afield service install ${second}, uninstalled, data kept`
  } finally {
    booted.kill('SIGKILL')
    await once(booted, 'exit')
  }
}

/** What the Dockerfile makes, without its tool: the same base, user, directories, command and health check. */
async function runContainer(suite: string): Promise<string> {
  const root = copyOf(debianRoot(roots, suite), `${suite}-container`)
  copyFileSync(program, join(root, 'usr/local/bin/afield'))
  chmodSync(join(root, 'usr/local/bin/afield'), 0o755)
  const dockerfile = readFileSync('bin/packaging/release/container/Dockerfile', 'utf8')
  const json = (name: string) => JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(dockerfile)?.[1] ?? 'null')
  const command: string[] = [...json('ENTRYPOINT'), ...json('CMD')]
  const check: string[] =
    /^\s*CMD (\[.*\])$/m
      .exec(dockerfile.slice(dockerfile.indexOf('HEALTHCHECK')))
      ?.slice(1)
      .map(text => JSON.parse(text))[0] ?? []
  const tmp = directory('tmp')
  // Its volume, which has the same name here.
  const data = '/data'
  if (existsSync(data)) throw new Error(`${data} exists; the container's volume needs that name`)
  mkdirSync(data)
  const enter = [join(here, 'enter.sh'), root, '1000', tmp, data]
  const env = {
    ...process.env,
    TMP_OPTIONS: 'noexec,nosuid,nodev',
    IN_HOME: '/data',
    IN_PATH: '/usr/bin:/bin',
    IN_ENV: 'AFIELD_PUBLIC_URL=https://afield.example.net'
  }
  const visit = async () => {
    const [shell = '', ...words] = check
    const answer = spawnSync(join(here, 'enter.sh'), [root, '1000', tmp, data, `/bin/${shell}`, ...words], {
      env: { ...env, PATH: process.env['PATH'] },
      encoding: 'utf8'
    })
    if (answer.status !== 0) throw new Error(`its health check failed: ${answer.stderr}`)
  }
  const said = await serve([...enter, ...command], visit, env).finally(() => rmSync(data, { recursive: true }))
  return `${said} as 1000:1000 with a read-only root and a noexec /tmp; its health check passed`
}

/** Starts a server, visits it, and asks it to stop. */
async function serve(
  command: readonly string[],
  visit: (url: string) => Promise<void>,
  env: NodeJS.ProcessEnv = process.env
): Promise<string> {
  const [first = '', ...words] = command
  const server = spawn(first, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let said = ''
  server.stderr.setEncoding('utf8').on('data', text => {
    said += text
  })
  try {
    for await (const line of createInterface(server.stdout)) {
      const url = /^afield listening on (\S+)$/.exec(line)?.[1]
      if (!url) continue
      server.stdout.resume()
      await visit(url)
      server.kill('SIGTERM')
      const [code] = await once(server, 'exit')
      if (code !== 0) throw new Error(`it ended with ${code}: ${said}`)
      return 'served the app and /health, stopped with 0'
    }
    throw new Error(`it ended before it listened: ${said}`)
  } finally {
    server.kill('SIGKILL')
  }
}

async function journey(url: string): Promise<void> {
  const health = (await (await fetch(`${url}/health`)).json()) as { status?: unknown }
  if (health.status !== 'ok') throw new Error(`/health answers ${JSON.stringify(health)}`)
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  const script = /src="(\/assets\/[^"]+)"/.exec(page)?.[1]
  if (!script || !(await fetch(`${url}${script}`)).ok) throw new Error('it does not serve the app')
}

function packages(): [string, string] {
  const make = (version: string): string =>
    debianPackage({ binary: program, version, arch: process.arch, out: directory('packages'), level: 1 })
  bothPackages ??= [make('0.0.1'), make('0.0.2')]
  return bothPackages
}

function directory(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `afield-install-${name}-`))
  made.push(folder)
  return folder
}

/** One file that runs a command with what is appended to it. */
function launcherOf(words: readonly string[]): string {
  const file = join(directory('launcher'), basename(words.at(-1) ?? ''))
  writeFileSync(file, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
  return file
}

async function firstChildOf(pid: number): Promise<number> {
  return until(() => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]) || undefined)
}

function tolerant(run: () => string): string {
  try {
    return run()
  } catch (error) {
    // Anything but the end of a program is a fault of this script.
    if (!(error instanceof Error && 'stdout' in error)) throw error
    return String(error.stdout)
  }
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await pause(200)) {
    const seen = look()
    if (seen !== undefined) return seen
  }
  throw new Error('it took more than two minutes')
}
