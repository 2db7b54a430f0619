import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const groups = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup']
const group = groups.find(path => existsSync(join(path, 'cgroup.procs')))

/** Why there can be no unit here; undefined if there can. */
export function unitProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !group) return 'This needs root on Linux, with control groups.'
  const missing = ['minisign', 'strace'].find(program => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
  return missing && `${missing} is missing: apt-get install ${missing}`
}

/** A service that looks like a unit of systemd to a program: its process has the control group of one, and `systemctl` in `path` starts and stops it. */
export class TestUnit {
  readonly name = `afield-test-${process.pid}.service`
  /** The folder with its `systemctl`. */
  readonly path: string
  /** Where its server listens, or listened last. */
  url = ''
  readonly #command: string[]
  readonly #control: Server
  #child: ChildProcess | undefined

  private constructor(path: string, command: string[]) {
    this.path = path
    this.#command = command
    this.#control = createServer(async ({ url = '' }, response) => {
      const verb = url.slice(1)
      if (verb === 'restart' || verb === 'stop') await this.stop()
      // As systemd, it does not wait until the program is ready.
      if (verb === 'restart' || verb === 'start') this.#spawn()
      response.end(verb === 'show' ? String(this.#child?.pid ?? 0) : '')
    })
  }

  static async create(place: string, command: string[]): Promise<TestUnit> {
    const path = join(place, 'systemctl')
    mkdirSync(path)
    const unit = new TestUnit(path, command)
    unit.#control.listen(0, '127.0.0.1')
    await once(unit.#control, 'listening')
    const { port } = unit.#control.address() as AddressInfo
    const script = `#!${process.execPath}\nfetch('http://127.0.0.1:${port}/' + process.argv[2]).then(async answer => console.log(await answer.text()))\n`
    writeFileSync(join(path, 'systemctl'), script)
    chmodSync(join(path, 'systemctl'), 0o755)
    mkdirSync(join(group ?? '', unit.name))
    return unit
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    this.url = ''
    const lines = this.#spawn()
    while (this.url === '') await once(lines, 'line')
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }

  async close(): Promise<void> {
    await this.stop()
    this.#control.close()
    rmdirSync(join(group ?? '', this.name))
  }

  #spawn() {
    const enter = `echo $$ >${group}/${this.name}/cgroup.procs && exec "$@"`
    const child = spawn('sh', ['-c', enter, 'sh', ...this.#command], { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#child = child
    const lines = createInterface({ input: child.stdout })
    return lines.on('line', line => {
      this.url = /^afield listening on (\S+)$/.exec(line)?.[1] ?? this.url
    })
  }
}
