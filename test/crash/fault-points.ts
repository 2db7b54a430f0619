import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer } from '../../lib/server/create.ts'
import { lacks } from '../kit/needs.ts'
import { isSomethingLeft, readDisk } from './disk.ts'
import { judge } from './judge.ts'
import { act, type Promises } from './script.ts'
import { startVictim } from './victim.ts'

/** The k-th call of one kind with which the server changes its disk. */
export interface FaultPoint {
  call: 'fsync' | 'fdatasync' | 'pwrite64'
  k: number
}

const calls = ['fsync', 'fdatasync', 'pwrite64'] as const

/** Why strace cannot be used here, in a sentence; undefined when it can. */
export function straceProblem(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true'], { encoding: 'utf8' })
  if (error) return lacks('strace') || `strace does not start: ${error.message}`
  return status === 0 ? undefined : `strace may not trace here: ${stderr.trim().split('\n')[0]}`
}

/** Every point at which the script below can be cut off, found by letting it run to its end once. */
export async function findFaultPoints(): Promise<FaultPoint[]> {
  return withDirectory(async directory => {
    const log = join(directory, 'log')
    const server = await startVictim({ data: join(directory, 'data'), through: ['strace', '-f', '-qq', '-o', log, '-e', `trace=${calls}`] })
    if (!server) throw new Error('The server did not start under strace.')
    await act(server.url)
    await server.kill()
    const text = readFileSync(log, 'utf8')
    return calls.flatMap(call => {
      const count = [...text.matchAll(new RegExp(`^\\d+ +${call}\\(`, 'gm'))].length
      return Array.from({ length: count }, (_, index) => ({ call, k: index + 1 }))
    })
  })
}

export interface Judged {
  /** How many promises were made, and looked for again. */
  promises: number
  /** Those that do not hold, each a sentence. */
  complaints: string[]
}

/**
 * Kills a new server on its way into one such call, somewhere between its start and the end of the script, and starts
 * another on what it left. Returns what of its promises does not hold; each step is there as a whole or not at all.
 */
export function killAt({ call, k }: FaultPoint, nodeArgs: readonly string[] = []): Promise<Judged> {
  return spoilAt(call, `signal=KILL:when=${k}`, nodeArgs)
}

/** The same for a disk on which this call and all later ones of its kind fail. */
export function failFrom({ call, k }: FaultPoint, error: 'EIO' | 'ENOSPC', nodeArgs: readonly string[] = []): Promise<Judged> {
  return spoilAt(call, `error=${error}:when=${k}+`, nodeArgs)
}

function spoilAt(call: FaultPoint['call'], how: string, nodeArgs: readonly string[]): Promise<Judged> {
  return withDirectory(async directory => {
    const data = join(directory, 'data')
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:${how}`]
    const server = await startVictim({ data, nodeArgs, through: ['strace', '-f', '-qq', '-o', join(directory, 'log'), ...inject] })
    const promises = server && (await act(server.url))
    await server?.kill()
    return { promises: promises?.count() ?? 0, complaints: await brokenOn(data, promises) }
  })
}

async function brokenOn(data: string, promises: Promises | undefined): Promise<string[]> {
  const { flaws, sessions } = readDisk(data)
  const again = await createServer({ data, port: 0, signup: 'open', limits: 'off', logLevel: 'silent' })
  try {
    for (let looked = 0; isSomethingLeft(data); looked += 1) {
      if (looked === 200) return ['What was removed is not gone.']
      await pause(50)
    }
    const broken = promises ? [...judge(promises.history, sessions), ...(await promises.brokenOn(again.url))] : []
    return [...flaws, ...broken]
  } finally {
    await again.close()
  }
}

async function withDirectory<T>(run: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'afield-fault-'))
  try {
    return await run(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
