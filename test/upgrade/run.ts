import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
// @ts-expect-error it has no types
import { library } from '../../bin/packaging/packaging.mjs'
import { thisPlatform } from '../../lib/upgrade/manifest.ts'
import { History } from '../crash/history.ts'
import { judge } from '../crash/judge.ts'
import { settle, tell } from '../crash/rounds.ts'
import { call } from '../kit/person.ts'
import { install } from './kit.ts'
import { buildPrograms, publishSigned } from './signed.ts'
import { TestUnit, unitProblem } from './unit.ts'

// node build.mjs upgrade [--keep]   builds this program as 0.1.0 and 0.2.0 with a key of minisign, and upgrades a server that clients write to, in every way
// that may go wrong; --keep takes the programs of the last run. Needs root on Linux, minisign and strace.
const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } })
const problem = unitProblem()
if (problem !== undefined) throw new Error(problem)
const built = await buildPrograms('build/upgrade', values.keep)
const place = mkdtempSync(join(tmpdir(), 'afield-upgrade-'))
const data = join(place, 'data')
const file = install(join(place, 'bin'), readFileSync(built.old))
const releases = publishReleases()
const { address, close } = await servedFrom(releases.good)
const unit = await TestUnit.create(place, [file, 'serve', '--data', data, '--port', '0', '--signup', 'open', '--limits', 'off'])
let failures = 0
try {
  await unit.start()
  await tryAll()
} finally {
  await unit.close()
  close()
  rmSync(place, { recursive: true })
}
console.log(failures === 0 ? 'Every upgrade did what it should.' : `${failures} did not.`)
process.exitCode = failures > 0 ? 1 : 0

async function tryAll(): Promise<void> {
  const history = new History()
  const account = await settle(unit.url)
  const next = new Map<string, number>()
  const scene = (name: string, act: () => Promise<string>) => during(name, act, { history, next, ...account })

  await scene('upgrade from a folder', () => says(['upgrade', releases.good], /runs version 0\.2\.0/, '0.2.0'))
  await scene('the same again', () => says(['upgrade', releases.good], /This is version 0\.2\.0 already/, '0.2.0'))
  await scene('an older release', () => refuses(['upgrade', releases.older], /version 0\.1\.0, older than this 0\.2\.0/, '0.2.0'))
  await scene('rollback', () => says(['rollback'], /runs version 0\.1\.0 again/, '0.1.0'))
  await scene('rollback again', () => refuses(['rollback'], /There is no previous version/, '0.1.0'))
  await scene('upgrade from an address', () => says(['upgrade', address], /runs version 0\.2\.0/, '0.2.0'))
  await scene('rollback', () => says(['rollback'], /runs version 0\.1\.0 again/, '0.1.0'))
  await scene('another key', () => refuses(['upgrade', releases.foreign], /signed with another key/, '0.1.0'))
  await scene('a changed manifest', () => refuses(['upgrade', releases.changed], /signature of latest\.json .* not valid/, '0.1.0'))
  await scene('a truncated program', () => refuses(['upgrade', releases.truncated], /is incomplete: \d+ of \d+ bytes/, '0.1.0'))
  await scene('a download that ends early', () => refuses(['upgrade', `${address}cut/`], /Nothing was changed; try again/, '0.1.0'))
  await scene('a program that never serves', () =>
    refuses(
      ['upgrade', releases.mute, '--ready-within', '3'],
      /not ready within .* Version 0\.1\.0 is back in place and serves again/,
      '0.1.0'
    )
  )
  for (const point of ['link:1', 'rename:1', 'rename:2', 'fsync:1']) await scene(`killed at ${point}`, () => killedAt(point))
  await scene('the end', () => says(['upgrade', releases.good], /version 0\.2\.0/, '0.2.0'))
  await scene('rollback', () => says(['rollback'], /runs version 0\.1\.0 again/, '0.1.0'))

  await unit.stop()
  console.log(`service down: ${await saysAlone(['upgrade', releases.good], /Version 0\.2\.0 is installed\.\n.*start it yourself/)}`)
  console.log(`service down: ${await saysAlone(['rollback'], /Version 0\.1\.0 is in place again\.\n.*start it yourself/)}`)
  await unit.start()
  await scene('started again', async () => version())
  console.log(`from npm: ${await fromNpm()}`)
  console.log(`from a Debian package: ${await fromDebian()}`)
}

interface Scene {
  history: History
  /** The number of the next message of each writer. */
  next: Map<string, number>
  token: string
  ids: readonly string[]
}

/** Acts while two clients write to each session, and then compares all that they were answered with what the server has. */
async function during(name: string, act: () => Promise<string>, { history, next, token, ids }: Scene): Promise<void> {
  let isOver = false
  const answeredBefore = history.answered
  const write = async (session: string, writer: string) => {
    while (!isOver) {
      const number = next.get(writer) ?? 0
      const draft = { localId: `${writer}.${number}`, content: `${writer} says ${number}` }
      const ask = { token, body: { messages: [draft] } }
      const answer = await call({ url: unit.url }, 'POST', `/v3/sessions/${session}/messages`, ask).catch(() => undefined)
      // Without an answer it is sent again, as a client does.
      if (answer?.status !== 200) continue
      history.acknowledged(session, { ...draft, seq: answer.body.messages[0].seq })
      next.set(writer, number + 1)
    }
  }
  const writing = ids.flatMap((session, index) => ['a', 'b'].map(letter => write(session, `${letter}${index}`)))
  let [said, complaints]: [string, string[]] = ['', []]
  try {
    said = await act()
  } catch (error) {
    complaints = [(error as Error).message]
  }
  isOver = true
  await Promise.all(writing)
  complaints.push(...judge(history, await tell(unit.url, { token, ids })))
  failures += complaints.length > 0 ? 1 : 0
  const messages = `${history.answered - answeredBefore} messages meanwhile, all ${history.answered} there`
  console.log(`${name}: ${complaints.length === 0 ? `${said} (${messages})` : `FAILED\n  ${complaints.slice(0, 5).join('\n  ')}`}`)
}

async function says(args: string[], pattern: RegExp, version: string): Promise<string> {
  return expected(await afield(args), { code: 0, pattern, version })
}

async function refuses(args: string[], pattern: RegExp, version: string): Promise<string> {
  const before = readdirSync(join(place, 'bin')).join()
  const ended = await afield(args)
  const said = await expected(ended, { pattern, version })
  if (ended.code === 0) throw new Error(`It should have failed: ${said}`)
  if (before !== readdirSync(join(place, 'bin')).join()) throw new Error(`It left ${readdirSync(join(place, 'bin')).join()}`)
  return `exit code ${ended.code}, ${said}`
}

async function expected(
  { code, said }: Ended,
  { code: wanted = code, pattern, version: served }: { code?: Ended['code']; pattern: RegExp; version: string }
): Promise<string> {
  if (code !== wanted || !pattern.test(said)) throw new Error(`It ended with ${code} and said: ${said}`)
  const seen = await version()
  if (seen !== `${served} serves, ${served} installed`) throw new Error(`${seen}, and it said: ${said}`)
  return said.split('\n')[0] ?? ''
}

/** What the server says it is, and what the file is. */
async function version(): Promise<string> {
  const { body } = await call({ url: unit.url }, 'GET', '/health')
  return `${body.version} serves, ${(await afield(['--version'])).said} installed`
}

/** SIGKILL to the upgrade when it makes that system call for that time. Then there is a program, the server serves, and the upgrade can be repeated. */
async function killedAt(point: string): Promise<string> {
  const [name, count] = point.split(':')
  const strace = ['-o', '/dev/null', '-e', `trace=${name}`, '-e', `inject=${name}:signal=SIGKILL:when=${count}`, file]
  const killed = await run('strace', [...strace, 'upgrade', releases.good, '--data', data])
  if (killed.code === 0) throw new Error(`It was not killed: ${killed.said}`)
  const left = await version()
  const again = await afield(['upgrade', releases.good])
  if (again.code !== 0) throw new Error(`Again it ended with ${again.code} and said: ${again.said}`)
  if (!/^0\.2\.0 serves, 0\.2\.0/.test(await version())) throw new Error(`After ${left}: ${await version()}, and it said: ${again.said}`)
  await says(['rollback'], /runs version 0\.1\.0 again/, '0.1.0')
  return `${left}; again: ${again.said.split('\n')[0]}`
}

async function saysAlone(args: string[], pattern: RegExp): Promise<string> {
  return matching(await afield(args), pattern)
}

function matching({ said }: Ended, pattern: RegExp): string {
  if (pattern.test(said)) return said.split('\n').slice(0, 2).join(' ')
  failures += 1
  return `FAILED, ${said}`
}

async function fromNpm(): Promise<string> {
  await library()
  const folder = join(place, 'node_modules/afield')
  cpSync('dist', folder, { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const ended = await run(process.execPath, [join(folder, 'lib/afield.js'), 'upgrade', releases.good])
  return matching(ended, /installed with npm: run "npm install -g afield@<version>"/)
}

/** Under the name of a file of a package, in a mount namespace of its own. */
async function fromDebian(): Promise<string> {
  const name = '/usr/bin/dpkg-split'
  if (!existsSync(name)) return 'not tried: this is no Debian'
  const ended = await run('unshare', ['-m', 'sh', '-c', `mount --bind ${file} ${name} && exec ${name} upgrade ${releases.good}`])
  return matching(ended, /belongs to the Debian package dpkg: install the newer package/)
}

interface Ended {
  code: number | string | null
  said: string
}

function afield(args: string[]): Promise<Ended> {
  return run(file, args[0]?.startsWith('-') ? args : [...args, '--data', data])
}

function run(program: string, args: string[]): Promise<Ended> {
  const env = { ...process.env, PATH: `${unit.path}:${process.env['PATH']}` }
  return new Promise(done =>
    execFile(program, args, { env }, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? error.signal ?? null) : 0, said: `${stdout}${stderr}`.trim() })
    )
  )
}

function publishReleases() {
  const at = (name: string) => join(place, 'releases', name)
  const publish = (name: string, version: string, program: string, key = built.key) => {
    mkdirSync(at(name), { recursive: true })
    const copy = join(at(name), `afield-${version}-${thisPlatform()}`)
    copyFileSync(program, copy)
    publishSigned(at(name), { version, program: copy, key })
    return { folder: at(name), program: copy }
  }
  const changed = publish('changed', '0.2.0', built.newer).folder
  const manifest = join(changed, 'latest.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('0.2.0', '0.3.0'))
  const truncated = publish('truncated', '0.2.0', built.newer)
  truncateSync(truncated.program, 1_000_000)
  // The real program, unless it should serve.
  const mute = join(place, 'mute')
  writeFileSync(mute, `#!/bin/sh\n[ "$1" != serve ] || exec sleep 1000\nexec ${resolve(built.newer)} "$@"\n`)
  return {
    good: publish('good', '0.2.0', built.newer).folder,
    older: publish('older', '0.1.0', built.old).folder,
    foreign: publish('foreign', '0.2.0', built.newer, built.otherKey).folder,
    mute: publish('mute', '0.2.0', mute).folder,
    truncated: truncated.folder,
    changed
  }
}

/** The address of a server of those files. Under `cut/` the program ends in the middle. */
async function servedFrom(folder: string) {
  const server = createServer(({ url = '' }, response) => {
    const bytes = readFileSync(join(folder, url.split('/').at(-1) ?? ''))
    response.writeHead(200, { 'content-length': bytes.length })
    if (!url.startsWith('/cut/afield-')) return response.end(bytes)
    return response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
}
