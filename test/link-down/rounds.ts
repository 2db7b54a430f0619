import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Random } from '../crash/random.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcpProxy, type TcpProxy } from '../kit/tcp-proxy.ts'
import { turnsEnded } from '../wrapper/kit/demo.ts'
import { startPhone } from '../wrapper/kit/phone.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { judge, lastHeard, type Verdict } from './judge.ts'

/** How a link goes down, and how it comes back. */
const ways = {
  /** Nobody is told; nothing comes through, and what was open stays dead. */
  blackhole: { down: line => line.stall(), up: line => line.heal() },
  /** Every connection is reset, new ones are refused. */
  reset: { down: line => line.closePort(), up: line => line.openPort() },
  /** The server sees all connections end, the computer hears of nothing. */
  'half-open': {
    down(line) {
      line.halfOpen()
      line.stall()
    },
    up: line => line.heal()
  }
} satisfies Record<string, { down(line: TcpProxy): void | Promise<void>; up(line: TcpProxy): void | Promise<void> }>

export type Way = keyof typeof ways

export interface Cut {
  way: Way
  seconds: number
}

export interface Rounds {
  data: string
  /** In the order in which they happen. */
  cuts: readonly Cut[]
  /** How long the link stays up. */
  upMs: number
  /** Whether each cut is waited for to be over, rather than the next one taken into what is left of it. */
  waitsForBack: boolean
  /** Asked before each cut; false ends it. */
  goesOn?: () => boolean
  /** Told after each cut: how long after the link was up again the first message came. */
  onBack?: (cut: Cut, afterMs: number, heard: number) => void
}

export const everyMs = 100

/** Every way for every duration, in an order that a seed decides. */
export function shuffledCuts(seconds: readonly number[], random: Random): Cut[] {
  const left = (Object.keys(ways) as Way[]).flatMap(way => seconds.map(seconds => ({ way, seconds })))
  const cuts: Cut[] = []
  while (left.length > 0) cuts.push(...left.splice(random.between(0, left.length - 1), 1))
  return cuts
}

/** An agent says ten things a second while its link goes down and up, and a phone writes to it meanwhile. */
export async function runRounds(
  t: Pick<Test, 'teardown'>,
  { data, cuts, upMs, waitsForBack, goesOn = () => true, onBack }: Rounds
): Promise<Verdict> {
  const server = await startServerProcess(t, { data })
  const line = await openTcpProxy(t, server.url)
  const { phone, home } = await linkedComputer(t, line)
  const said = Math.ceil(cuts.reduce((sum, { seconds }) => sum + 1000 * seconds + upMs + (waitsForBack ? usualBackMs : 0), 0) / everyMs)
  const wrapper = runWrapper(t, { home, args: ['demo', `SCRIPT: steady ${everyMs} ${said} line`] })
  // The phone has a way of its own.
  const session = await (await startPhone(t, server, phone.secret)).session()
  await wrapper.says(/ live\n/)
  await session.until(session => session.messages.length > 0)

  for (const [index, cut] of cuts.entries()) {
    // The agent has more to say, and answers the phone after it: neither is waited for.
    if (!goesOn()) return judge(session, { said: lastHeard(session), asked: 0 })
    await ways[cut.way].down(line)
    await pause(cut.seconds * 500)
    await session.say(`SCRIPT: text heard ${index + 1}`)
    await pause(cut.seconds * 500)
    // The last of it came before the link went down, but for the phone's own message.
    const before = session.messages.length
    const from = performance.now()
    await ways[cut.way].up(line)
    if (waitsForBack) await session.until(({ messages }) => messages.length > before)
    onBack?.(cut, performance.now() - from, session.messages.length)
    await pause(upMs)
  }
  await session.until(session => turnsEnded(session) === cuts.length + 1)
  return judge(session, { said, asked: cuts.length })
}

// So that the agent still talks when the last cut comes.
const usualBackMs = 10_000
