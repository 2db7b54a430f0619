import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { cpuWithChildren } from '../kit/other-process.ts'

/** A program that is measured beside others, as its authors publish it. */
export interface Peer {
  name: string
  /** The file or folder that is installed. */
  installed: string | undefined
  healthPath: string
  serve(at: { port: number; data: string }): Command
  /** Begins a session whose agent is `bench/kit/speaking-agent.mjs`, or says why there is none. */
  converse: string | ((at: Place) => Promise<Conversation>)
}

export interface Command {
  words: readonly string[]
  env: Record<string, string>
}

export type Ending = Pick<Test, 'teardown'>

export interface Place {
  t: Ending
  /** The server. */
  url: string
  /** Where the wrapper is to find it. */
  wrapperUrl: string
  /** For what the wrapper keeps; the agent is in it, by the names that wrappers look for. */
  folder: string
}

/** A session of a wrapper as a phone sees it. */
export interface Conversation {
  /** The process of the wrapper. */
  wrapper: number
  say(text: string): Promise<void>
  /** Everything that a phone can read, as text. */
  read(): Promise<string>
  /** Watches as a phone does, through an address of the server that counts bytes. Resolves when it does. */
  watch(t: Ending, url: string): Promise<void>
}

export interface Serving {
  url: string
  pid: number
  /** Until it was healthy. */
  cpuMs: number
  ms: number
  /** With SIGKILL. */
  kill(): Promise<void>
}

export async function startPeer(t: Ending, peer: Peer, port: number, data: string): Promise<Serving> {
  const { words, env } = peer.serve({ port, data })
  const [command = '', ...args] = words
  const url = `http://127.0.0.1:${port}`
  const began = performance.now()
  const child = spawn(command, args, { env: environment(data, env), stdio: 'ignore' })
  const pid = child.pid ?? 0
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  while (!(await isHealthy(url + peer.healthPath))) {
    const isOver = child.exitCode !== null || child.signalCode !== null
    if (isOver || performance.now() - began > 60_000)
      throw new Error(`${peer.name} ${isOver ? 'ended before it was' : 'did not become'} healthy.`)
    await pause(5)
  }
  return { url, pid, cpuMs: cpuWithChildren(pid), ms: performance.now() - began, kill }
}

/** Nothing of the person who measures, who may use these programs. */
export function environment(home: string, more: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', ...more }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await response.text()
    return response.ok
  } catch {
    return false
  }
}

/** An address of a server that counts what comes from it. */
export async function countBytes(t: Ending, target: string): Promise<{ url: string; bytes: () => number }> {
  let bytes = 0
  const server = createServer(near => {
    const far = connect(Number(new URL(target).port), '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far)
    far.on('data', chunk => (bytes += chunk.length)).pipe(near)
    near.once('close', () => far.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bytes: () => bytes }
}
