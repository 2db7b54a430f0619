import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { startServer } from '../../kit/server.ts'
import { runOnTerminal } from './terminal.ts'
import { linkedComputer } from './world.ts'

export const fakeOpencode = resolve('test/wrapper/agents/opencode/fake-opencode.mjs')

/** A computer of an account with a fake opencode, its folder to work in, and a way to sit down at its terminal. */
export async function computerWithOpencode(t: Pick<Test, 'teardown'>, server: { url: string }, env: Record<string, string> = {}) {
  const { phone, home } = await linkedComputer(t, server)
  const own = join(home, '..')
  const directory = join(own, 'code')
  mkdirSync(directory)
  const sitDown = (args: readonly string[] = ['opencode']) =>
    runOnTerminal(t, { home, directory, args, env: { OPENCODE_BIN_PATH: fakeOpencode, HOME: own, ...env } })
  /** What people and the model said, as opencode has it. */
  const written = (conversation: string): string[] => {
    const kept: Kept = JSON.parse(readFileSync(join(own, 'opencode.kept.json'), 'utf8'))
    const messages = kept[conversation]?.messages ?? []
    return messages.flatMap(({ info, parts }) =>
      parts.flatMap(({ type, text }) => (type === 'text' && text ? `${info.role}: ${text}` : []))
    )
  }
  return { phone, home, own, directory, sitDown, written }
}

/** The same with a server, and somebody before its screen. */
export async function opencodeAtTerminal(t: Test, env: Record<string, string> = {}) {
  const computer = await computerWithOpencode(t, await startServer(t), env)
  const terminal = computer.sitDown()
  const session = await computer.phone.session()
  await terminal.sees(/ready/)
  return { ...computer, terminal, session }
}

type Kept = Record<string, { messages: { info: { role: string }; parts: { type: string; text?: string }[] }[] }>
