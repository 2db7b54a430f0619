import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Test } from 'tap'
import { startServer } from '../../kit/server.ts'
import { runOnTerminal } from './terminal.ts'
import { linkedComputer } from './world.ts'

// The Node.js of this test is the one that runs the fake too.
const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)

/** A computer of an account with a scripted Codex, its folder to work in, and a way to sit down at its terminal. */
export async function computerWithCodex(t: Pick<Test, 'teardown'>, server: { url: string }, env: Record<string, string> = {}) {
  const { phone, home } = await linkedComputer(t, server)
  const directory = join(home, '..', 'code')
  const config = join(home, '..', 'codex')
  mkdirSync(directory)
  const sitDown = (args: readonly string[] = ['codex']) =>
    runOnTerminal(t, {
      home,
      directory,
      args,
      env: { CODEX_BIN: resolve('test/wrapper/agents/codex/fake-codex.mjs'), CODEX_HOME: config, PATH: path, ...env }
    })
  /** What people and the model said, as Codex has it. */
  const written = (thread: string): string[] => {
    if (!existsSync(join(config, `${thread}.json`))) return []
    const turns: { items: Item[] }[] = JSON.parse(readFileSync(join(config, `${thread}.json`), 'utf8'))
    return turns.flatMap(({ items }) =>
      items.flatMap(item => {
        if (item.type === 'userMessage') return `user: ${item.content.map(({ text = '' }) => text).join('')}`
        return item.type === 'agentMessage' ? `assistant: ${item.text}` : []
      })
    )
  }
  return { phone, home, directory, sitDown, written }
}

type Item = { type: 'userMessage'; content: { text?: string }[] } | { type: 'agentMessage'; text: string } | { type: 'other' }

/** The same with a server, and somebody before its screen. */
export async function codexAtTerminal(t: Test, env: Record<string, string> = {}) {
  const computer = await computerWithCodex(t, await startServer(t), env)
  const terminal = computer.sitDown()
  const session = await computer.phone.session()
  await terminal.sees(/❯/)
  return { ...computer, terminal, session }
}
