import { readdirSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Random } from '../crash/random.ts'
import { startServerProcess } from '../kit/server.ts'
import { read } from '../wrapper/kit/claude.ts'
import { texts } from '../wrapper/kit/demo.ts'
import type { Computer } from './computers.ts'
import { judge, type Verdict } from './judge.ts'

export interface Rounds {
  data: string
  rounds: number
  /** Who is killed in the first of them; later ones are left to chance. Everybody once unless told. */
  victims?: readonly Victim[]
  /** What the agent says in a round. */
  lines: number
  random: Random
  computer(server: { url: string }): Promise<Computer>
  /** Asked before each; false ends it. */
  goesOn?: () => boolean
  /** Told before each. */
  onRound(sentence: string): void
  /** Within this one has to be over; what was on the screen is told of one that is not. */
  withinMs?: number
}

export const everybody = ['wrapper', 'agent', 'server', 'all'] as const
type Victim = (typeof everybody)[number]

/** In each round somebody asks for a long answer, at the terminal or on the phone, and one of those who carry it is killed. */
export async function runRounds(t: Pick<Test, 'teardown'>, options: Rounds): Promise<Verdict> {
  const { data, rounds, victims = everybody, lines, random, computer, goesOn = () => true, onRound, withinMs = 90_000 } = options
  let server = await startServerProcess(t, { data })
  const port = Number(new URL(server.url).port)
  const where = await computer(server)
  let terminal = where.sitDown()
  const session = await where.phone.session()
  await terminal.sees(where.ready)

  const play = async (round: number) => {
    const victim = victims[round - 1] ?? random.pick(everybody)
    const isTyped = random.chance(0.5) && where.type !== undefined
    const killAt = random.between(where.type ? 0 : 1, lines - 1)
    const line = `round ${round} line`
    onRound(`round ${round}: kills ${victim} after ${killAt} of ${lines} lines, ${isTyped ? 'typed' : 'said on the phone'}`)
    const told = () => texts(session).filter(text => text.startsWith(`${line} `)).length
    const prompt = where.ask(lines, line)
    if (isTyped) await where.type?.(terminal, session, prompt)
    else await session.say(prompt)
    await session.until(() => told() >= killAt)

    if (victim === 'agent') for (const pid of below(terminal.pid, where.agent)) process.kill(pid, 'SIGKILL')
    if (victim === 'wrapper' || victim === 'all') terminal.kill('SIGKILL')
    if (victim === 'server' || victim === 'all') {
      await server.kill()
      server = await startServerProcess(t, { data, port })
    }
    if (victim === 'server') return session.until(() => told() === lines)
    await terminal.ended
    terminal = where.sitDown(['resume', session.id])
    await terminal.sees(where.ready)
  }
  const last = async () => {
    await session.say(where.ask(1, 'the end'))
    await session.until(({ events }) => texts(session).includes('the end 1') && events().at(-1)?.t === 'turn-end')
    terminal.kill('SIGTERM')
    await terminal.ended
  }

  const inTime = (name: string, work: Promise<void>) => within(withinMs, work, () => `${name} did not end:\n${terminal.screen.trimEnd()}`)
  for (let round = 1; round <= rounds && goesOn(); round++) await inTime(`round ${round}`, play(round))
  await inTime('the last answer', last())
  return judge({ read: read(session), events: session.events() }, where.written(session))
}

export async function within<Result>(ms: number, work: Promise<Result>, why: () => string): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(why())), ms)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

/** The processes below one whose command line is like this, but for shells that only watch over them. */
export function below(pid: number, pattern: RegExp): number[] {
  const pids = readdirSync(`/proc/${pid}/task`).flatMap(task =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  )
  return pids.flatMap(child => {
    const [command = '', ...args] = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0')
    const isIt = pattern.test([command, ...args].join(' ')) && !/\/sh$/.test(command)
    return isIt ? [child] : below(child, pattern)
  })
}
