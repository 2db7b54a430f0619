import { setTimeout as pause } from 'node:timers/promises'
import { cryptoReady, engine } from '../../lib/crypto/index.ts'
import { call, signInBody } from '../kit/person.ts'
import { readDisk } from './disk.ts'
import { History } from './history.ts'
import { judge, type Stored } from './judge.ts'
import { type Random, seededRandom } from './random.ts'
import { startVictim, type Victim, type VictimOptions } from './victim.ts'
import { listener, readAll, reader } from './watchers.ts'
import { httpWriter, socketWriter, type Writer } from './writers.ts'

const sessions = 2
const httpWritersPerSession = 2
const socketWritersPerSession = 1

export interface Report {
  rounds: number
  stored: number
  answered: number
  seenLive: number
  seenInPages: number
  /** Broken promises, each a sentence; the run ends with the first round that has any. */
  complaints: string[]
}

/**
 * Kills the server at a random moment under load, again and again on the same data, and judges after each time whether
 * everything promised is there: on disk, and as the restarted server tells it. The seed decides the load and the moments.
 */
export async function runRounds(
  options: VictimOptions & { rounds: number; seed: number; each?: (round: Report) => void; goesOn?: () => boolean }
): Promise<Report> {
  const { data, rounds, seed, each, goesOn = () => true } = options
  const random = seededRandom(seed)
  const history = new History()
  const report: Report = { rounds: 0, stored: 0, answered: 0, seenLive: 0, seenInPages: 0, complaints: [] }
  let server = await start(options)
  try {
    const { token, ids } = await settle(server.url)
    const crowd = crowdOf({ token, ids, history, random })
    for (let round = 0; round < rounds && report.complaints.length === 0 && goesOn(); round += 1) {
      const { url } = server
      const work = crowd.map(one => one.run(url))
      // On a busy machine a server may be killed before its first answer. That is a moment like any other, but not all may be like it.
      if (round === 0) await isUnderWay(history)
      await pause(random.between(50, 300))
      await server.kill()
      await Promise.all(work)

      const { flaws, sessions } = readDisk(data)
      server = await start(options)
      const told = await tell(server.url, { token, ids })
      const complaints = [...flaws, ...judge(history, sessions), ...differences(sessions, told)]
      const stored = sessions.reduce((sum, { messages }) => sum + messages.length, 0)
      const { answered, seenLive, seenInPages } = history
      Object.assign(report, { rounds: round + 1, stored, answered, seenLive, seenInPages, complaints })
      each?.(report)
    }
    return report
  } finally {
    await server.kill()
  }
}

/** Resolves once messages were answered, seen live, and read, or after ten seconds. */
async function isUnderWay(history: History): Promise<void> {
  const giveUpAt = performance.now() + 10_000
  const seesAll = () => history.answered > 0 && history.seenLive > 0 && history.seenInPages > 0
  while (!seesAll() && performance.now() < giveUpAt) await pause(5)
}

export async function start(options: VictimOptions): Promise<Victim> {
  const server = await startVictim(options)
  if (!server) throw new Error('The server was killed before it listened, and not by this harness.')
  return server
}

/** An account with its sessions. */
export async function settle(url: string): Promise<{ token: string; ids: string[] }> {
  await cryptoReady()
  const { body } = await call({ url }, 'POST', '/v1/auth', { body: await signInBody(engine.randomBytes(32)) })
  const ids: string[] = []
  for (let number = 0; number < sessions; number += 1) {
    const answer = await call({ url }, 'POST', '/v1/sessions', { token: body.token, body: { tag: `${number}`, metadata: '' } })
    ids.push(answer.body.session.id)
  }
  return { token: body.token, ids }
}

export function crowdOf({ ids, ...desk }: { token: string; ids: readonly string[]; history: History; random: Random }): Writer[] {
  const perSession = ids.flatMap((session, number) => [
    ...Array.from({ length: httpWritersPerSession }, (_, one) => httpWriter(`http-${number}-${one}`, { ...desk, session })),
    ...Array.from({ length: socketWritersPerSession }, (_, one) => socketWriter(`socket-${number}-${one}`, { ...desk, session })),
    reader({ ...desk, session })
  ])
  return [...perSession, listener(desk)]
}

/** The sessions as the restarted server tells them. */
export async function tell(url: string, { token, ids }: { token: string; ids: readonly string[] }): Promise<Stored[]> {
  const { body } = await call({ url }, 'GET', '/v1/sessions', { token })
  const lastSeqs = new Map<string, number>(body.sessions.map((session: { id: string; seq: number }) => [session.id, session.seq]))
  const told: Stored[] = []
  for (const id of ids) told.push({ id, lastSeq: lastSeqs.get(id) ?? -1, messages: await readAll(url, { token, session: id }) })
  return told
}

export function differences(onDisk: readonly Stored[], told: readonly Stored[]): string[] {
  const byId = new Map(onDisk.map(session => [session.id, JSON.stringify(session)]))
  return told
    .filter(session => byId.get(session.id) !== JSON.stringify(session))
    .map(({ id, messages }) => `${id}: the restarted server tells ${messages.length} messages that are not what was on disk`)
}
