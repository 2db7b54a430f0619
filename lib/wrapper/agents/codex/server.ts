import { readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../../async/pause.ts'
import { CannotStart } from '../../../exit.ts'
import { makePrivateFolder } from '../../home/private-files.ts'
import { ownerOf, ownName } from '../../home/processes.ts'
import { type AgentProcess, startProcess } from '../process.ts'
import { type Line, type LineHandlers, openLine } from './line.ts'

export interface CodexServer {
  /** Where its own screen finds it. */
  readonly address: string
  readonly line: Line
  readonly process: AgentProcess
}

export interface ServerOptions {
  /** The wrapper's home: the socket is in a folder of it that nobody else can enter. */
  home: string
  codex: string
  directory: string
  env: Readonly<Record<string, string>>
  handlers: LineHandlers
}

const listeningWithinMs = 30_000
const lookEveryMs = 40
let started = 0

/** An app server of Codex that only this user can reach, and a line to it. Throws CannotStart when it does not come up. */
export async function startCodexServer({ home, codex, directory, env, handlers }: ServerOptions): Promise<CodexServer> {
  const folder = join(home, 'sockets')
  makePrivateFolder(folder)
  for (const name of readdirSync(folder)) if (ownerOf(name) === undefined) rmSync(join(folder, name), { force: true })
  const socket = join(folder, `codex-${++started}@${ownName()}`)
  const address = `unix://${socket}`
  const child = await startProcess({ command: codex, args: ['app-server', '--listen', address], directory, env })
  let hasEnded: string | undefined
  void child.ended.then(how => {
    hasEnded = how
    rmSync(socket, { force: true })
  })
  const giveUpAt = performance.now() + listeningWithinMs
  for (;;) {
    try {
      // The name of a socket may not be long: Codex puts it where its name is short, and a link to it here.
      return { address, line: await openLine(realpathSync(socket), handlers), process: child }
    } catch (error) {
      if (hasEnded !== undefined) throw refusal(`Codex did not start its app server (${hasEnded}).`, child)
      if (performance.now() > giveUpAt) {
        await child.end(0)
        throw refusal(`The app server of Codex did not listen within ${listeningWithinMs / 1000} s. ${sentenceOf(error)}`, child)
      }
    }
    await pause(lookEveryMs)
  }
}

function refusal(sentence: string, child: AgentProcess): CannotStart {
  const last = child.lastLines()
  return new CannotStart(last === '' ? sentence : `${sentence}\nIts last lines:\n${last.replace(/^/gm, '  ')}`)
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
