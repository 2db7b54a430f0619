import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { programFile } from '../kit/program.ts'
import { computerWithRealCodex } from '../real/codex-computer.ts'
import { computerWithRealClaude } from '../real/computer.ts'
import { computerWithRealOpencode } from '../real/opencode-computer.ts'
import { computerWithClaude, written } from '../wrapper/kit/claude.ts'
import { computerWithCodex } from '../wrapper/kit/codex.ts'
import { writtenByDemo } from '../wrapper/kit/demo.ts'
import { computerWithOpencode } from '../wrapper/kit/opencode.ts'
import type { Phone, PhoneSession } from '../wrapper/kit/phone.ts'
import { type PersonAtTerminal, runOnTerminal } from '../wrapper/kit/terminal.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'

/** A computer on which an agent runs that says `<line> 1` to `<line> <n>` when it is told `ask(n, line)`. */
export interface Computer {
  phone: Phone
  sitDown(args?: readonly string[]): PersonAtTerminal
  /** On its screen when it takes a line. */
  ready: RegExp
  /** Which of the processes below the wrapper is the agent, by its command line. */
  agent: RegExp
  ask(count: number, line: string): string
  /** Undefined where nobody can: only the phone speaks. */
  type?: (terminal: PersonAtTerminal, session: PhoneSession, text: string) => Promise<void>
  /** What people and the agent said, as the agent has it. */
  written(session: PhoneSession): string[]
}

type Teardown = Pick<Test, 'teardown'>
type Server = { url: string }

/** By the name on the command line; the second of each is the real one. */
export const computers = {
  claude: { fake: claude(computerWithClaude), real: claude(computerWithRealClaude) },
  'claude-remote': { fake: claudeForPhone(computerWithClaude), real: claudeForPhone(computerWithRealClaude) },
  codex: { fake: codex, real: realCodex },
  opencode: { fake: opencode, real: realOpencode },
  acp: { fake: scripted, real: scripted }
}

const many = (count: number, line: string) => `many ${count} ${line}`

function claude(computerOf: typeof computerWithClaude | typeof computerWithRealClaude) {
  return async (t: Teardown, server: Server): Promise<Computer> => {
    const computer = await computerOf(t, server)
    const { phone, sitDown } = computer
    return {
      phone,
      sitDown,
      ready: /❯/,
      agent: /claude/,
      ask: many,
      async type(terminal, session, text) {
        // What the phone says is typed here too, and a line that is not taken in time takes the keyboard along.
        await session.until(() => hasAllSaid(session, written(computer)))
        const isAway = () => /Any key takes it back/.test(terminal.screen)
        await session.until(({ state }) => state.controlledByUser === true || isAway())
        if (isAway()) {
          terminal.type(' ')
          await session.until(({ state }) => state.controlledByUser === true)
          await terminal.sees(/❯/)
        }
        await lineByLine(terminal, session, text)
      },
      written: () => written(computer)
    }
  }
}

/** Without its own screen: what is said comes over its adapter, and is read again from what it wrote down. */
function claudeForPhone(computerOf: typeof computerWithClaude | typeof computerWithRealClaude) {
  return async (t: Teardown, server: Server): Promise<Computer> => {
    const computer = await computerOf(t, server)
    return {
      phone: computer.phone,
      sitDown: ([command = 'claude', ...words] = []) => computer.sitDown([command, '--remote', ...words]),
      ready: /waiting for a message|working, /,
      agent: /claude/,
      ask: many,
      written: () => written(computer)
    }
  }
}

/** Whether the agent has everything that was said on the phone. */
function hasAllSaid({ messages }: PhoneSession, written: readonly string[]): boolean {
  const said = messages.flatMap(body => (body.role === 'user' && body.meta?.sentFrom !== 'cli' ? body.content.text : []))
  return said.every(line => written.includes(`user: ${line}`))
}

function isIdle({ events }: PhoneSession): boolean {
  const count = (of: string) => events().filter(({ t }) => t === of).length
  return count('turn-start') === count('turn-end')
}

/** What is said while it works it takes into the same turn, and its model answers the last of it: nobody types there meanwhile. */
const inTurn =
  (written: Computer['written'], type: NonNullable<Computer['type']>): NonNullable<Computer['type']> =>
  async (terminal, session, text) => {
    await session.until(() => isIdle(session) && (session.messages.length === 0 || hasAllSaid(session, written(session))))
    await type(terminal, session, text)
  }

async function codex(t: Teardown, server: Server): Promise<Computer> {
  const { phone, sitDown, written: ofThread } = await computerWithCodex(t, server)
  const written = ({ metadata }: PhoneSession) => ofThread(metadata.agentSessionId ?? '')
  return { phone, sitDown, ready: /❯/, agent: /app-server/, ask: many, type: inTurn(written, atOnce), written }
}

async function realCodex(t: Teardown, server: Server): Promise<Computer> {
  const { phone, sitDown, config } = await computerWithRealCodex(t, server)
  const written = ({ metadata }: PhoneSession) => readRollout(join(config, 'sessions'), metadata.agentSessionId ?? '')
  return { phone, sitDown, ready: /Ask Codex to do anything/, agent: /app-server/, ask: many, type: inTurn(written, lineByLine), written }
}

/** What a real Codex wrote down of a thread. */
function readRollout(folder: string, thread: string): string[] {
  if (!existsSync(folder)) return []
  const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find(name => name.endsWith(`${thread}.jsonl`))
  if (file === undefined) return []
  const rows: Row[] = readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter(line => line.endsWith('}'))
    .map(line => JSON.parse(line))
  return rows.flatMap(({ type, payload: { type: kind, role, content } }) => {
    if (type !== 'response_item' || kind !== 'message' || !content) return []
    const text = content.map(({ text = '' }) => text).join('')
    // What Codex says about where it is comes as a message of the person too.
    return (role === 'user' && !/^[<#]/.test(text)) || role === 'assistant' ? `${role}: ${text}` : []
  })
}

interface Row {
  type: string
  payload: { type?: string; role?: string; content?: { text?: string }[] }
}

async function opencode(t: Teardown, server: Server): Promise<Computer> {
  const { phone, sitDown, written } = await computerWithOpencode(t, server)
  const rest = { ready: /ready/, agent: /fake-opencode\.mjs serve/, ask: many, type: atOnce }
  return { phone, sitDown, ...rest, written: session => written(session.metadata.agentSessionId ?? '') }
}

async function realOpencode(t: Teardown, server: Server): Promise<Computer> {
  const { phone, sitDown, written } = await computerWithRealOpencode(t, server)
  const rest = { ready: /Build · Fake M/, agent: /opencode serve/, ask: many, type: atOnce }
  return { phone, sitDown: args => sitDown(args && [...args]), ...rest, written: session => written(session.metadata.agentSessionId ?? '') }
}

/** It has no screen: the phone alone speaks. */
async function scripted(t: Teardown, server: Server): Promise<Computer> {
  const { phone, home } = await linkedComputer(t, server)
  const directory = join(home, '..')
  const kept = join(directory, 'demo')
  const agent = [process.execPath, programFile(), 'demo-agent', kept]
  return {
    phone,
    sitDown: (args = ['run', '--', ...agent]) => runOnTerminal(t, { home, directory, args }),
    ready: /waiting for a message|working, /,
    agent: /demo-agent/,
    ask: (count, line) => `SCRIPT: steady 10 ${count} ${line}`,
    written: ({ metadata }) => writtenByDemo(kept, metadata.agentSessionId ?? '')
  }
}

/** A screen may take a line and the key that sends it for one paste when they come together. */
async function lineByLine(terminal: PersonAtTerminal, _: PhoneSession, text: string): Promise<void> {
  terminal.type(text)
  await terminal.sees(new RegExp(text))
  terminal.type('\r')
}

async function atOnce(terminal: PersonAtTerminal, _: PhoneSession, text: string): Promise<void> {
  terminal.type(`${text}\r`)
}
