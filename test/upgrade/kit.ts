import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { manifestName, signatureName, thisPlatform } from '../../lib/upgrade/manifest.ts'
import type { Supervisor } from '../../lib/upgrade/supervisor.ts'

const root = join(import.meta.dirname, '../..')

// Each program would strip the types of the same sources again.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/compiled')

interface Program {
  version: string
  /** A schema step that only this version has. */
  step?: string
  /** What its server does instead of serving, after it has opened the database. */
  fault?: 'ends'
  /** That it cannot even be tried. */
  isBroken?: boolean
  /** The public half of the key of its releases. */
  keys?: string
}

/**
 * A program that stands in for another version: the real one from its sources, with another version, another step of the schema or a fault.
 */
export function program(what: Program): Buffer {
  // A script whose name may end in anything, as Node.js does not allow.
  return Buffer.from(`#!/bin/sh
exec ${process.execPath} -e "$(sed 1,3d "$0")" -- "$0" "$@"
exit
${scriptOf(what)}`)
}

/** What a Node.js that is called like a program runs, to be one that replaces its own file. */
export function scriptOf({ version, step, fault, isBroken, keys }: Program): string {
  return `if (${isBroken ?? false}) throw new Error('broken')
const { readFileSync, existsSync, readdirSync } = process.getBuiltinModule('node:fs')
const { join } = process.getBuiltinModule('node:path')
const root = ${JSON.stringify(root)}
const step = ${JSON.stringify(step ?? null)}
const sql = readdirSync(join(root, 'sqlite')).filter(name => name.endsWith('.sql')).map(name => 'sqlite/' + name)
const extra = 'sqlite/' + String(sql.length + 1).padStart(4, '0') + '_later.sql'
const read = name => {
  if (name === 'package.json') return Buffer.from(JSON.stringify({ version: ${JSON.stringify(version)} }))
  if (name === 'release-key.pub') return ${JSON.stringify(keys)} && Buffer.from(${JSON.stringify(keys ?? '')})
  if (name === extra && step) return Buffer.from(step)
  const path = join(root, name.startsWith('web/') ? 'build' : '', name)
  return existsSync(path) ? readFileSync(path) : undefined
}
const main = async () => {
  const { embedAssets } = await import(join(root, 'lib/assets.ts'))
  embedAssets({ read, names: () => (step ? [...sql, extra] : sql) })
  const fault = process.argv[2] === 'serve' && ${JSON.stringify(fault ?? null)}
  if (fault) {
    const { openStore } = await import(join(root, 'lib/store/open.ts'))
    const data = process.argv[process.argv.indexOf('--data') + 1]
    const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken() {} })
    await store.close()
    process.exit(78)
  }
  const { main } = await import(join(root, 'bin/main.ts'))
  await main(process.argv.slice(2))
}
main()
`
}

interface ReleaseKey {
  /** As minisign writes it. */
  pub: string
  signed(content: Buffer): string
}

/** A key, and signatures in the format of minisign; that this is its format is tested with files of that program. */
export function releaseKey(): ReleaseKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const id = randomBytes(8)
  const bytes = Buffer.from(String(publicKey.export({ format: 'jwk' })['x']), 'base64url')
  return {
    pub: `untrusted comment: a key of a test\n${Buffer.concat([Buffer.from('Ed'), id, bytes]).toString('base64')}\n`,
    signed: content => signature(privateKey, id, content)
  }
}

function signature(key: KeyObject, id: Buffer, content: Buffer): string {
  const own = sign(null, createHash('blake2b512').update(content).digest(), key)
  const comment = 'a release of a test'
  const second = sign(null, Buffer.concat([own, Buffer.from(comment)]), key)
  const first = Buffer.concat([Buffer.from('ED'), id, own]).toString('base64')
  return `untrusted comment: signature\n${first}\ntrusted comment: ${comment}\n${second.toString('base64')}\n`
}

interface ReleaseParts {
  version: string
  bytes: Buffer
  key: ReleaseKey
  /** What its manifest says otherwise. */
  manifest?: object
  file?: object
}

/** A folder with a release, as it is published. */
export function publish(folder: string, { version, bytes, key, manifest = {}, file = {} }: ReleaseParts): string {
  mkdirSync(folder, { recursive: true })
  const name = `afield-${version}-${thisPlatform()}`
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const content = Buffer.from(
    JSON.stringify({
      version,
      createdAt: new Date(now - 1000).toISOString(),
      expiresAt: new Date(now + 1000).toISOString(),
      files: [{ name, platform: thisPlatform(), size: bytes.length, sha256, ...file }],
      ...manifest
    })
  )
  writeFileSync(join(folder, name), bytes)
  writeFileSync(join(folder, manifestName), content)
  writeFileSync(join(folder, signatureName), key.signed(content))
  return folder
}

export const now = Date.UTC(2030, 0, 2)

/** Installs a program as a person does, in a folder of its own. */
export function install(folder: string, bytes: Buffer): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'afield')
  writeFileSync(file, bytes)
  chmodSync(file, 0o755)
  return file
}

/** Stands in for a service manager: it runs the server of a program in a process of its own. */
export class TestSupervisor implements Supervisor {
  readonly name = 'afield.service'
  readonly #command: { file: string; args: string[] }
  #child: ChildProcess | undefined
  starts = 0

  constructor(t: Pick<Test, 'teardown'>, file: string, data: string, args: string[] = []) {
    this.#command = { file, args: ['serve', '--data', data, '--port', '0', '--log-level', 'silent', '--signup', 'open', ...args] }
    t.teardown(() => this.stop())
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    this.starts += 1
    this.#child = spawn(this.#command.file, this.#command.args, { stdio: 'ignore' })
    await once(this.#child, 'spawn')
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }
}
