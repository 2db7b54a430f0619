import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { pause } from '../../lib/async/pause.ts'
import { versionOf } from '../../lib/wrapper/agents/claude/version.ts'
import { judge } from '../kills/judge.ts'
import { within } from '../kills/rounds.ts'
import { publishedProgram } from '../kit/needs.ts'
import { startServerProcess } from '../kit/server.ts'
import { read, written } from '../wrapper/kit/claude.ts'
import { turnsEnded } from '../wrapper/kit/demo.ts'
import { startPhone } from '../wrapper/kit/phone.ts'
import { type Desk, type Play, plays, type Seen } from './claude-plays.ts'
import { computerWithRealClaude } from './computer.ts'

// node test/real/claude-walk.ts [n [words]]   takes at least 60 turns with the Claude Code of CLAUDE_BIN at a terminal and a phone beside it, on a
// model on loopback: questions, plans, Esc before the first word, retries, kills; `n` of each kind at most, and those with the words in their name. Each is looked
// at on the terminal, on the phone, and in what Claude Code wrote down. Prints what was seen, and ends with 1 when anything is wrong.

interface Row extends Seen {
  sent: string
  /** What Claude Code wrote down, beside what the phone has. */
  transcript: string
  isRight: boolean
}

const turnWithinMs = 60_000
const most = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
const words = process.argv[3] ?? ''
const closings: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => void closings.unshift(close) }
const data = mkdtempSync(join(tmpdir(), 'afield-walk-'))
const rows: Row[] = []
try {
  await walk()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
for (const close of closings) await close()
rmSync(data, { recursive: true, maxRetries: 3 })
print(rows)
process.exit(process.exitCode ?? (rows.every(({ isRight }) => isRight) ? 0 : 1))

async function walk(): Promise<void> {
  const server = await startServerProcess(t, { data })
  const computer = await computerWithRealClaude(t, server)
  console.log(`Claude Code ${await versionOf(publishedProgram('claude'), computer.home, process.env)}`)
  let terminal = computer.sitDown(['claude', '--yes'])
  const session = await computer.phone.session()
  await terminal.sees(/❯/)
  const desk: Desk = {
    get terminal() {
      return terminal
    },
    session,
    async type(text) {
      terminal.type(text)
      await terminal.sees(new RegExp(text))
      await pause(300)
      terminal.type('\r')
    },
    async turn(act, count = 1) {
      const before = turnsEnded(session)
      const result = await act()
      await session.until(session => turnsEnded(session) >= before + count)
      return result
    },
    async resume() {
      await terminal.ended
      terminal = computer.sitDown(['resume', session.id])
      await terminal.sees(/❯/)
      await session.until(({ state }) => state.controlledByUser === true)
    }
  }
  const note = (sent: string, seen: Omit<Row, 'sent' | 'isRight'>) => {
    const isRight = seen.terminal === 'seen' && seen.phone === 'seen' && seen.transcript === 'the same'
    rows.push({ sent, ...seen, isRight })
    console.log(`${isRight ? 'ok   ' : 'WRONG'} ${sent}${isRight ? '' : `: ${seen.terminal} | ${seen.phone} | ${seen.transcript}`}`)
  }
  const play = async (name: string, sent: string, one: Play) => {
    const from = { read: read(session).length, events: session.events().length, written: written(computer).length }
    const unended = () => `${sent} did not end:\n${terminal.screen.trimEnd()}`
    const seen = await within(turnWithinMs, one(desk, name), unended).catch((error: Error) => error)
    const isEnded = !(seen instanceof Error)
    const told = { read: read(session).slice(from.read), events: session.events().slice(from.events) }
    const transcript = besideTranscript(told, written(computer).slice(from.written))
    const stuck = () => ({ terminal: terminal.screen.trimEnd().slice(-300), phone: String((seen as Error).message).split('\n')[0] ?? '' })
    note(sent, { ...(isEnded ? seen : stuck()), transcript })
    return isEnded
  }
  for (const { sent, times, play: one, isPlan } of plays.filter(({ sent }) => sent.includes(words))) {
    if (isPlan) await desk.turn(() => session.say('now the plans', 'default'))
    for (let n = 1; n <= Math.min(times, most); n++) {
      const isEnded = await play(`${sent.replace(/\W+/g, '-')}-${n}-`, `${sent} ${n}`, one)
      // What comes after it would say nothing.
      if (!isEnded) return
    }
  }
  const late = await (await startPhone(t, server, computer.phone.secret)).session()
  await within(
    turnWithinMs,
    late.until(({ messages }) => messages.length >= session.messages.length),
    () => 'a second phone does not get all of it'
  )
  const all = besideTranscript({ read: read(late), events: late.events() }, written(computer))
  note('all of it, on a phone that was off', {
    terminal: 'seen',
    phone: isDeepStrictEqual(late.messages, session.messages) ? 'seen' : 'another story',
    transcript: all
  })
  await session.call('killSession', {})
  await within(turnWithinMs, terminal.ended, () => 'the session was ended and its terminal goes on')
}

/** Nothing lost, doubled, out of order or without an end. */
function besideTranscript(told: Parameters<typeof judge>[0], written: readonly string[]): string {
  const { said, lost, doubled, isMisplaced, unended } = judge(told, written)
  if (said < 2) return `${said} lines`
  const faults = [
    lost.length > 0 && `lost ${lost.join(', ')}`,
    doubled.length > 0 && `only on the phone: ${doubled.join(', ')}`,
    isMisplaced && 'another order',
    unended !== 0 && `${unended} turns without an end`
  ].filter(Boolean)
  return faults.length === 0 ? 'the same' : faults.join('; ').replace(/\s+/g, ' ').slice(0, 300)
}

function print(rows: readonly Row[]): void {
  console.log('\n| sent | seen on the terminal | seen on the phone | what Claude wrote down | verdict |\n| --- | --- | --- | --- | --- |')
  for (const { sent, terminal, phone, transcript, isRight } of rows)
    console.log(`| ${sent} | ${[terminal, phone, transcript].map(cell).join(' | ')} | ${isRight ? 'right' : 'WRONG'} |`)
  console.log(`\n${rows.length} turns, ${rows.filter(({ isRight }) => !isRight).length} wrong`)
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|')
}
