import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { cryptoReady, engine } from '../../lib/crypto/index.ts'
import { seededRandom } from '../crash/random.ts'
import { call, signInBody } from '../kit/person.ts'
import { Client, type World } from './client.ts'
import { allFaults, type Fault, faults, pickFaults } from './faults.ts'
import { Fleet } from './fleet.ts'
import { History } from './history.ts'
import { Listener } from './listeners.ts'
import { batchWriter, cursorReader, settingsWriter, socketWriter, type Worker } from './workers.ts'

const accounts = 2
const sessionsPerAccount = 2
const batchWritersPerSession = 2
const settingsWritersPerAccount = 3
const listenersPerAccount = 3

export interface Campaign {
  instances: number
  seed: number
  /** Whether another round follows. */
  goesOn(report: CampaignReport): boolean
  faults?: readonly Fault[]
  /** Arguments for Node.js that spoil a promise on purpose. */
  nodeArgs?: readonly string[]
  /** How long a round lasts at least and at most, without what has to be repaired after it. */
  loadMs?: readonly [least: number, most: number]
  /** How long clients at rest may take until they have everything. */
  patienceMs?: number
  each?: (round: string, report: CampaignReport) => void
}

export interface CampaignReport {
  rounds: number
  operations: number
  /** Of these, those of which nobody knows whether they were done. */
  maybe: number
  messages: number
  versions: number
  seenLive: number
  connections: number
  /** Broken promises, each a sentence; the campaign ends with the first round that has any. */
  complaints: string[]
}

interface Account {
  token: string
  id: string
  sessions: string[]
}

/**
 * Clients work at several instances and hop between them while these, Redis and PostgreSQL fail. After each round everybody
 * rests, and what the apps were told must be all there is; at the end everything is read once more. The seed decides the
 * load, the faults and the moments.
 */
export async function runCampaign(t: Pick<Test, 'teardown'>, campaign: Campaign): Promise<CampaignReport> {
  const { instances, seed, nodeArgs = [], patienceMs = 30_000, loadMs = [800, 2_500], goesOn, each } = campaign
  const adversary = seededRandom(seed)
  // Of the clients, who take their turns as the machine lets them.
  const random = seededRandom(seed + 1)
  const history = new History()
  const onEnded = (what: string) => history.complain(what)
  const world: World = { fleet: await Fleet.start(t, { instances, random, nodeArgs, onEnded }), history, random }
  const people = await Promise.all(Array.from({ length: accounts }, () => signUpWithSessions(world)))
  const workers = people.flatMap((account, at) => workersOf(world, account, at * 100))
  const listeners = people.flatMap(account =>
    Array.from({ length: listenersPerAccount }, () => new Listener(world, { ...account, account: account.id }))
  )
  const ending = new AbortController()
  const listening = listeners.map(listener => listener.run(ending.signal))
  let rounds = 0
  do {
    rounds += 1
    const picked = pickFaults(campaign.faults ?? allFaults, { random: adversary, instances })
    await runRound(world, workers, { picked, loadMs: adversary.between(...loadMs) })
    await rest(world, listeners, patienceMs)
    const names = picked.map(({ fault, at }) => (fault.startsWith('instance') ? `${fault} (${at})` : fault))
    each?.(names.join(', '), reportOf(history, rounds))
  } while (history.complaints.length === 0 && goesOn(reportOf(history, rounds)))
  ending.abort()
  await Promise.all(listening)
  await audit(world, people)
  return reportOf(history, rounds)
}

function reportOf(
  { outcomes, operations, sessions, settings, seenLive, connections, complaints }: History,
  rounds: number
): CampaignReport {
  const sum = (all: Iterable<{ highest: number }>) => [...all].reduce((total, { highest }) => total + highest, 0)
  const { maybe } = outcomes
  return {
    ...{ rounds, operations, maybe, messages: sum(sessions.values()), versions: sum(settings.values()) },
    ...{ seenLive, connections, complaints: [...complaints] }
  }
}

async function signUpWithSessions({ fleet }: World): Promise<Account> {
  await cryptoReady()
  const { body } = await call({ url: fleet.pick() }, 'POST', '/v1/auth', { body: await signInBody(engine.randomBytes(32)) })
  const { token } = body
  const sessions: string[] = []
  for (let number = 0; number < sessionsPerAccount; number += 1) {
    const answer = await call({ url: fleet.pick() }, 'POST', '/v1/sessions', { token, body: { tag: `${number}`, metadata: '' } })
    sessions.push(answer.body.session.id)
  }
  return { token, id: JSON.parse(atob(token.split('.')[1] ?? '')).sub, sessions }
}

function workersOf(world: World, { token, id, sessions }: Account, firstWriter: number): Worker[] {
  let writer = firstWriter
  const perSession = sessions.flatMap(session => {
    const desk = { world, token, session }
    return [
      ...Array.from({ length: batchWritersPerSession }, () => batchWriter(writer++, desk)),
      socketWriter(writer++, desk),
      cursorReader(desk)
    ]
  })
  return [...perSession, ...Array.from({ length: settingsWritersPerAccount }, () => settingsWriter(writer++, { world, token }, id))]
}

/** The load ends before or after what was broken is whole again: what was lost in between must be told without another message. */
async function runRound(
  world: World,
  workers: readonly Worker[],
  { picked, loadMs }: { picked: { fault: Fault; at: number }[]; loadMs: number }
): Promise<void> {
  const { random } = world
  const stop = new AbortController()
  const work = workers.map(worker => worker.run(stop.signal))
  const loadEnds = pause(loadMs).then(() => stop.abort())
  const failures = picked.map(async ({ fault, at }) => {
    await pause(random.between(0, loadMs))
    await faults[fault](world, { at, loadEnds })
  })
  await Promise.all([...work, ...failures])
}

async function rest({ history }: World, listeners: readonly Listener[], patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs
  const missing = () => listeners.flatMap(listener => listener.missing())
  while (missing().length > 0 && performance.now() < until) await pause(20)
  for (const sentence of missing()) history.complain(sentence)
}

async function audit(world: World, people: readonly Account[]): Promise<void> {
  for (const { token, id, sessions } of people) {
    const client = new Client(world, token)
    for (const session of sessions) await auditSession(client, session)
    const cell = await client.readSettings()
    if (cell) world.history.settingsOf(id).audit(cell)
    else world.history.complain(`settings of ${id}: they cannot be read at the end`)
  }
}

async function auditSession(client: Client, session: string): Promise<void> {
  const { history } = client.world
  const judge = history.session(session).audit()
  judge.next()
  let cursor = 0
  for (let more = true; more; ) {
    const page = await client.readPage(session, cursor, 500)
    if (!page) return history.complain(`session ${session}: it cannot be read at the end`)
    for (const message of page.messages) judge.next(message)
    cursor = page.messages.at(-1)?.seq ?? cursor
    more = page.more
  }
  judge.next(undefined)
}
