import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { startServer } from '../../kit/server.ts'
import type { PhoneSession } from './phone.ts'
import { runOnTerminal } from './terminal.ts'
import { linkedComputer } from './world.ts'

// Also the build runs these, from wherever it was started.
const fakes = join(import.meta.dirname, '../agents/claude')
export const fakeClaude = join(fakes, 'fake-claude.mjs')

/** Where a fetched adapter is: one that goes on with the conversations of the fake Claude Code. */
export function installFakeAdapter(home: string): void {
  const folder = join(home, 'agents', 'node_modules', '@agentclientprotocol', 'claude-agent-acp')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', bin: 'index.mjs' }))
  const adapter = pathToFileURL(join(fakes, 'fake-adapter.mjs'))
  writeFileSync(join(folder, 'index.mjs'), `import ${JSON.stringify(adapter)}\n`)
}

/** A computer of an account with a fake Claude Code, its folder to work in, and a way to sit down at its terminal. */
export async function computerWithClaude(t: Pick<Test, 'teardown'>, server: { url: string }) {
  const { phone, home } = await linkedComputer(t, server)
  installFakeAdapter(home)
  const directory = join(home, '..', 'code')
  const config = join(home, '..', 'claude')
  mkdirSync(directory)
  const sitDown = (args: readonly string[] = ['claude'], env: Record<string, string> = {}, program?: readonly string[]) =>
    runOnTerminal(t, {
      home,
      directory,
      args,
      ...(program && { program }),
      env: { CLAUDE_CODE_EXECUTABLE: fakeClaude, CLAUDE_CONFIG_DIR: config, ...env }
    })
  return { phone, home, directory, config, sitDown }
}

/** The same with a server, and somebody at the terminal who sees that it is ready. */
export async function claudeAtTerminal(t: Test, { args, env }: { args?: readonly string[]; env?: Record<string, string> } = {}) {
  const server = await startServer(t)
  const computer = await computerWithClaude(t, server)
  const terminal = computer.sitDown(args, env)
  const session = await computer.phone.session()
  await terminal.sees(/❯/)
  return { ...computer, server, terminal, session }
}

/** What people wrote, in order. */
export function said({ messages }: Pick<PhoneSession, 'messages'>): string[] {
  return messages.flatMap(({ role, content }) => (role === 'user' ? content.text : []))
}

/** Everything a reader of the transcripts would read: what people wrote and what Claude said, in order, each once. */
export function written({ config, directory }: { config: string; directory: string }): string[] {
  const folder = join(config, 'projects', realpathSync(directory).replace(/[^a-zA-Z0-9]/g, '-'))
  // Nothing was said yet.
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter(file => file.endsWith('.jsonl'))
  return files.flatMap(file =>
    readFileSync(join(folder, file), 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap(line => {
        const { type, message, isMeta, isSidechain } = JSON.parse(line)
        if (!['user', 'assistant'].includes(type) || isMeta || isSidechain || message.model === '<synthetic>') return []
        const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
        return blocks.flatMap((block: { type: string; text?: string }) =>
          block.type === 'text' && !/^(\[Request interrupted|<(command|local-command))/.test(block.text ?? '')
            ? `${message.role}: ${block.text}`
            : []
        )
      })
  )
}

/** The same as the phone has it. What is marked as cut off was not said. */
export function read({ messages, events }: PhoneSession): string[] {
  const told = events()
  let next = 0
  return messages.flatMap(({ role, content }) => {
    if (role === 'user') return `user: ${content.text}`
    if (role !== 'session') return []
    const event = told[next++]
    return event?.t === 'text' && !event.cut ? `assistant: ${event.text}` : []
  })
}
