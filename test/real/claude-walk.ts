import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pause } from '../../lib/async/pause.ts'
import { versionOf } from '../../lib/wrapper/agents/claude/version.ts'
import { below, within } from '../kills/rounds.ts'
import { startServerProcess } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import type { PersonAtTerminal } from '../wrapper/kit/terminal.ts'
import { computerWithRealClaude } from './computer.ts'

// node test/real/claude-walk.ts   takes at least 60 turns with the Claude Code of CLAUDE_BIN at a terminal and a phone beside it, on a model on
// loopback: questions, plans, Esc before the first word, retries, kills. Prints what was seen on both sides, and ends with 1 when any is wrong.

interface Seen {
  sent: string
  terminal: string
  phone: string
  isRight: boolean
}

interface Desk {
  terminal: PersonAtTerminal
  readonly session: PhoneSession
  /** Types it and presses Enter. */
  type(text: string): Promise<void>
  /** Resolves once a turn has ended after `act`. */
  turn(act: () => Promise<unknown>): Promise<void>
}

type Play = (desk: Desk, name: string) => Promise<Omit<Seen, 'sent' | 'isRight'>>

const turnWithinMs = 90_000
const claude = /claude .*--session-id|claude .*--resume|claude-code/
const closings: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => void closings.unshift(close) }
const data = mkdtempSync(join(tmpdir(), 'afield-walk-'))
const rows: Seen[] = []
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
  console.log(`Claude Code ${await versionOf(process.env['CLAUDE_BIN'] ?? '', computer.home, process.env)}`)
  let terminal = computer.sitDown(['claude', '--yes'])
  const session = await computer.phone.session()
  await terminal.sees(/❯/)
  const desk: Desk = {
    get terminal() {
      return terminal
    },
    set terminal(next) {
      terminal = next
    },
    session,
    async type(text) {
      terminal.type(text)
      await terminal.sees(new RegExp(text))
      await pause(300)
      terminal.type('\r')
    },
    async turn(act) {
      const before = turnsEnded(session)
      await act()
      await session.until(session => turnsEnded(session) > before)
    }
  }
  const resume = async () => {
    await terminal.ended
    terminal = computer.sitDown(['resume', session.id])
    await terminal.sees(/❯/)
    await session.until(({ state }) => state.controlledByUser === true)
  }
  const plays: [string, number, Play][] = [
    ['prompt at the terminal', 8, promptAtTerminal],
    ['prompt on the phone', 7, promptOnPhone],
    ['question, answered on the phone', 5, questionOnPhone],
    ['question, answered at the terminal', 5, questionAtTerminal],
    ['Esc before the first word', 10, escBeforeFirstWord],
    ['429, refused twice', 5, retried(429)],
    ['529, refused twice', 5, retried(529)],
    ['claude killed', 5, killed(() => kill(below(terminal.pid, claude)), resume)],
    ['wrapper killed', 5, killed(() => terminal.kill('SIGKILL'), resume)],
    ['plan', 5, plan]
  ]
  for (const [sent, times, play] of plays) {
    if (play === plan) await desk.turn(() => session.say('now the plans', 'default'))
    for (let n = 1; n <= times; n++) {
      const name = `${sent} ${n}`
      const seen = await within(
        turnWithinMs,
        play(desk, `${sent.split(/[ ,]/)[0]}-${n}`),
        () => `${name} did not end:\n${terminal.screen.trimEnd()}`
      ).catch(error => ({ terminal: terminal.screen.trimEnd().slice(-300), phone: String(error.message).split('\n')[0] ?? '' }))
      const isRight = seen.terminal === 'seen' && seen.phone === 'seen'
      rows.push({ sent: name, ...seen, isRight })
      console.log(`${isRight ? 'ok   ' : 'WRONG'} ${name}`)
      if (!isRight) return
    }
  }
  await session.call('killSession', {})
}

/** The answer on both sides, once. */
async function answered({ terminal, session }: Desk, answer: string): Promise<Omit<Seen, 'sent' | 'isRight'>> {
  await terminal.sees(new RegExp(answer))
  const times = texts(session).filter(text => text.includes(answer)).length
  return { terminal: 'seen', phone: times === 1 ? 'seen' : `${times} times` }
}

async function promptAtTerminal(desk: Desk, name: string) {
  await desk.turn(() => desk.type(`hello ${name} desk`))
  return answered(desk, `you said: hello ${name} desk`)
}

async function promptOnPhone(desk: Desk, name: string) {
  await desk.turn(() => desk.session.say(`hello ${name} phone`))
  return answered(desk, `you said: hello ${name} phone`)
}

async function questionOnPhone(desk: Desk) {
  const { session, terminal } = desk
  const before = texts(session).length
  await desk.turn(async () => {
    await session.say('ask several')
    const [id, request] = await asked(session)
    await terminal.sees(/Enter to select/)
    const answers = { 'Which color?': { values: ['Blue'] }, 'Which animals?': { values: ['Cat'], other: 'an owl' } }
    await session.call('permission', { id, approved: true, shown: request.shown ?? '', answers })
  })
  const isHeard = /"Which color\?"="Blue", "Which animals\?"="Cat, an owl"/.test(texts(session).slice(before).join('\n'))
  return { terminal: isDialogOpen(desk) ? 'dialog still open' : 'seen', phone: isHeard ? 'seen' : 'not heard' }
}

async function questionAtTerminal(desk: Desk) {
  const { session, terminal } = desk
  const [id] = await (async () => {
    await desk.session.say('ask one')
    return asked(session)
  })()
  await desk.turn(async () => {
    await terminal.sees(/Enter to select/)
    // Right after its dialog has opened it takes no key.
    await pause(1_500)
    terminal.type('2')
  })
  const { status, answers } = session.state.completedRequests?.[id] ?? {}
  return {
    terminal: isDialogOpen(desk) ? 'dialog still open' : 'seen',
    phone: status === 'approved' && JSON.stringify(answers)?.includes('Blue') ? 'seen' : `${status}`
  }
}

async function escBeforeFirstWord(desk: Desk, name: string) {
  const { session, terminal } = desk
  await desk.turn(async () => {
    const begun = session.events().filter(({ t }) => t === 'turn-start').length
    await desk.type(`wait ${name}`)
    await session.until(({ events }) => events().filter(({ t }) => t === 'turn-start').length > begun)
    await terminal.sees(/esc to interrupt/)
    terminal.type('\x1b')
  })
  const isStopped = session.events().findLast(({ t }) => t === 'turn-end')
  // It puts the words back to where they were typed.
  terminal.type('\x15')
  await desk.turn(() => session.say(`after ${name}`))
  const seen = await answered(desk, `you said: after ${name}`)
  return isStopped?.t === 'turn-end' && isStopped.status === 'cancelled' ? seen : { ...seen, phone: 'not stopped' }
}

function retried(status: number): Play {
  return async (desk, name) => {
    await desk.turn(async () => {
      await desk.session.say(`fail ${status} 2 ${name}`)
      await desk.session.until(({ state }) => state.modelWait !== undefined)
    })
    if (desk.session.state.modelWait !== undefined) return { terminal: 'seen', phone: 'still waits' }
    return answered(desk, `you said: fail ${status} 2 ${name}`)
  }
}

function killed(kill: () => void, resume: () => Promise<void>): Play {
  return async (desk, name) => {
    await desk.session.say(`many 4 ${name}`)
    await desk.session.until(session => texts(session).includes(`${name} 1`))
    kill()
    await resume()
    const seen = await promptOnPhone(desk, `after-${name}`)
    const lines = texts(desk.session).flatMap(text => (text.startsWith(`${name} `) ? Number(text.slice(name.length)) : []))
    const isInOrder = lines.every((line, index) => line === index + 1)
    return isInOrder ? seen : { ...seen, phone: `lines ${lines.join(' ')}` }
  }
}

async function plan(desk: Desk) {
  const { session, terminal } = desk
  // At the terminal only its keys change the mode.
  for (let tries = 0; tries < 5 && session.metadata.currentOperatingModeCode !== 'plan'; tries++) {
    terminal.type('\x1b[Z')
    await pause(800)
    if (/plan mode on/.test(terminal.screen.split('\n').slice(-3).join('\n'))) break
  }
  const before = texts(session).length
  let plan = ''
  await desk.turn(async () => {
    await session.say('plan it')
    const [id, request] = await asked(session)
    plan = id
    await terminal.sees(/Would you like to proceed/)
    await session.call('permission', { id, approved: true, choice: 'default', shown: request.shown ?? '' })
  })
  const isHeard = /approved your plan/.test(texts(session).slice(before).join('\n'))
  const isApproved = session.state.completedRequests?.[plan]?.status === 'approved'
  return { terminal: isDialogOpen(desk) ? 'not closed' : 'seen', phone: isHeard && isApproved ? 'seen' : 'not heard' }
}

function isDialogOpen({ terminal }: Desk): boolean {
  return /Enter to select|Would you like to proceed/.test(terminal.screen)
}

async function asked(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [request] = Object.entries(session.state.requests ?? {})
  if (!request) throw new Error('nothing is asked')
  return request
}

function kill(pids: readonly number[]): void {
  if (pids.length === 0) throw new Error('no claude runs')
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

function print(rows: readonly Seen[]): void {
  console.log('\n| sent | seen on the terminal | seen on the phone | verdict |\n| --- | --- | --- | --- |')
  for (const { sent, terminal, phone, isRight } of rows)
    console.log(`| ${sent} | ${terminal} | ${phone} | ${isRight ? 'right' : 'WRONG'} |`)
  console.log(`\n${rows.length} turns, ${rows.filter(({ isRight }) => !isRight).length} wrong`)
}
