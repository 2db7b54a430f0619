import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { median } from './kit/compare.ts'
import { cpuOf, memoryOf } from './kit/other-process.ts'

/**
 * The start of a server on existing data, compared with a bare Node.js: processor time and time until it is healthy, and its memory
 * some seconds later. AFIELD_PROGRAM measures a built program, otherwise it runs from its sources; AFIELD_EARLIER another one beside it.
 */
const rounds = 7
const idleMs = 6_000
const { AFIELD_PROGRAM, AFIELD_EARLIER } = process.env
const data = mkdtempSync(join(tmpdir(), 'afield-bench-'))
const bare = [process.execPath, '--eval', "console.log('listening on nothing'); setInterval(() => {}, 1e6)"]
// A port of its own: finding a free one loads modules that a server does not need.
const serving = (program: string[]) => [...program, 'serve', '--port', '45871', '--data', data]
const programs: Record<string, string[]> = {
  'bare Node.js': bare,
  ...(AFIELD_EARLIER !== undefined && { earlier: serving([AFIELD_EARLIER]) }),
  afield: serving(AFIELD_PROGRAM?.split(' ') ?? [process.execPath, resolve('bin/afield.ts')])
}

const starts = new Map<string, Start[]>(Object.keys(programs).map(name => [name, []]))
// The first creates the data.
await start(programs['afield'] ?? [], 0)
for (let round = 0; round < rounds; round++)
  for (const [name, words] of Object.entries(programs)) starts.get(name)?.push(await start(words, round === 0 ? idleMs : 0))
for (const [name, all] of starts) {
  const [first] = all
  console.log(
    `${name.padEnd(14)} ${median(all.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms of processor time, ${median(all.map(({ ms }) => ms)).toFixed(0)} ms until healthy; ${first?.privateMb.toFixed(1)} MB private, ${first?.pssMb.toFixed(1)} MB PSS`
  )
}
rmSync(data, { recursive: true, force: true })

interface Start {
  cpuMs: number
  ms: number
  privateMb: number
  pssMb: number
}

async function start([command = '', ...args]: string[], idleMs: number): Promise<Start> {
  const began = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const pid = child.pid ?? 0
  for await (const line of createInterface(child.stdout)) {
    const url = /listening on (\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    if (url.startsWith('http')) await (await fetch(`${url}/health`)).text()
    break
  }
  const [cpuMs, ms] = [cpuOf(pid), performance.now() - began]
  await new Promise(resolve => setTimeout(resolve, idleMs))
  const [privateMb, pssMb] = [memoryOf(pid, 'Private_Dirty'), memoryOf(pid, 'Pss')]
  child.kill()
  await once(child, 'exit')
  return { cpuMs, ms, privateMb, pssMb }
}
