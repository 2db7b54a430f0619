import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { cryptoReady, engine } from '../../lib/crypto/index.ts'
import { type Random, seededRandom } from '../crash/random.ts'
import { call, signInBody } from '../kit/person.ts'
import { Client, type World } from './client.ts'
import { allFaults, type Fault, faults, pickFaults } from './faults.ts'
import { Fleet } from './fleet.ts'
import { atTheEnd, History } from './history.ts'
import { Listener } from './listeners.ts'
import { batchWriter, cursorReader, settingsWriter, socketWriter, type Worker } from './workers.ts'

const sessionsPerAccount = 2
const settingsWritersPerAccount = 3
const listenersPerAccount = 3

/** Who works at the same time. More of them make an operation cheaper, since more fit into one commit. */
export interface Crowd {
  accounts: number
  batchWritersPerSession: number
  readersPerSession: number
}

const fewPeople: Crowd = { accounts: 2, batchWritersPerSession: 2, readersPerSession: 1 }

export interface Campaign {
  instances: number
  seed: number
  /** Whether another round follows. */
  goesOn(report: CampaignReport): boolean
  faults?: readonly Fault[]
  /** Arguments for Node.js that spoil a promise on purpose. */
  nodeArgs?: readonly string[]
  crowd?: Crowd
  /** How long a round lasts at least and at most, without what has to be repaired after it. */
  loadMs?: readonly [least: number, most: number]
  /** How long clients at rest may take until they have everything. */
  patienceMs?: number
  /** Ends the load at once. What is broken is still made whole, and everything is judged. */
  until?: AbortSignal
  /** From here on somebody can ask how it stands. */
  onReady?: (report: () => CampaignReport) => void
}

export interface CampaignReport {
  rounds: number
  operations: number
  /** Of these, those of which nobody knows whether they were done. */
  maybe: number
  operationsOf: Readonly<Record<string, number>>
  faultsOf: Readonly<Record<string, number>>
  messages: number
  versions: number
  /** So many numbers and versions the history remembers; the others are settled. */
  remembered: number
  seenLive: number
  connections: number
  /** Broken promises, each a sentence; the campaign ends with the first round that has any. */
  complaints: string[]
  /** What happened before the first complaint. */
  around: string[]
}

interface Account {
  token: string
  id: string
  sessions: string[]
}

/**
 * Clients work at several instances and hop between them while these, Redis and PostgreSQL fail. After each round everybody
 * rests: what the apps were told must be all there is, and what is new is read through and judged. At the end everything is
 * read once more.
 *
 * The seed decides how long the load of each round lasts, which faults strike in it, on which instance, how long after its
 * beginning, and how long each lasts. These are had again with the same seed and options. What the clients send and when
 * is not: they take turns at one sequence of numbers as the machine lets them, and a fault strikes at a time, not at an
 * operation. So a complaint need not come again with its seed.
 */
export async function runCampaign(t: Pick<Test, 'teardown'>, campaign: Campaign): Promise<CampaignReport> {
  const { instances, seed, nodeArgs = [], patienceMs = 30_000, loadMs = [800, 2_500], goesOn, until, onReady, crowd = fewPeople } = campaign
  const adversary = seededRandom(seed)
  const random = seededRandom(seed + 1)
  const history = new History()
  const onEnded = (what: string) => history.complain(what)
  const world: World = { fleet: await Fleet.start(t, { instances, random, nodeArgs, onEnded }), history, random }
  const people = await Promise.all(Array.from({ length: crowd.accounts }, () => signUpWithSessions(world)))
  const workers = people.flatMap((account, at) => workersOf(world, { ...account, firstWriter: at * 100, crowd }))
  const listeners = people.flatMap(account =>
    Array.from({ length: listenersPerAccount }, () => new Listener(world, { ...account, account: account.id }))
  )
  const ending = new AbortController()
  const listening = listeners.map(listener => listener.run(ending.signal))
  const watching = watchPunctuality(history, listeners)
  t.teardown(() => clearInterval(watching))
  let rounds = 0
  const report = () => reportOf(history, rounds)
  onReady?.(report)
  do {
    rounds += 1
    const picked = pickFaults(campaign.faults ?? allFaults, { random: adversary, instances })
    const ms = adversary.between(...loadMs)
    const strikes = picked.map(({ fault, at }) => {
      const own = seededRandom(adversary.between(0, 2 ** 31))
      return { fault, at, afterMs: own.between(0, ms), random: own }
    })
    await runRound(world, workers, { strikes, loadMs: ms, until })
    await rest(world, { listeners, people, patienceMs })
  } while (history.complaints.length === 0 && !until?.aborted && goesOn(report()))
  ending.abort()
  clearInterval(watching)
  await Promise.all(listening)
  await audit(world, people)
  return report()
}

const lookEveryMs = 100

/** Whoever is told something late is found while it is late. A look that comes late itself says that the machine is too busy to judge. */
function watchPunctuality(history: History, listeners: readonly Listener[]): NodeJS.Timeout {
  let last = performance.now()
  return setInterval(() => {
    const now = performance.now()
    history.pass(Math.min(now - last, 2 * lookEveryMs))
    last = now
    for (const listener of listeners) listener.judge()
  }, lookEveryMs)
}

function reportOf(history: History, rounds: number): CampaignReport {
  const sum = (all: Iterable<number>) => [...all].reduce((total, number) => total + number, 0)
  const sessions = [...history.sessions.values()]
  const settings = [...history.settings.values()]
  return {
    rounds,
    operations: history.operations,
    maybe: history.outcomes.maybe,
    operationsOf: Object.fromEntries(history.operationsOf),
    faultsOf: Object.fromEntries(history.faultsOf),
    messages: sum(sessions.map(({ highest }) => highest)),
    versions: sum(settings.map(({ highest }) => highest)),
    remembered: sum([...sessions, ...settings].map(({ remembered }) => remembered)),
    seenLive: history.seenLive,
    connections: history.connections,
    complaints: [...history.complaints],
    around: history.around
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

function workersOf(world: World, { token, id, sessions, firstWriter, crowd }: Account & { firstWriter: number; crowd: Crowd }): Worker[] {
  let writer = firstWriter
  const perSession = sessions.flatMap(session => {
    const desk = { world, token, session }
    return [
      ...Array.from({ length: crowd.batchWritersPerSession }, () => batchWriter(writer++, desk)),
      socketWriter(writer++, desk),
      ...Array.from({ length: crowd.readersPerSession }, () => cursorReader(desk))
    ]
  })
  return [...perSession, ...Array.from({ length: settingsWritersPerAccount }, () => settingsWriter(writer++, { world, token }, id))]
}

interface Strike {
  fault: Fault
  at: number
  afterMs: number
  random: Random
}

/** The load ends before or after what was broken is whole again: what was lost in between must be told without another message. */
async function runRound(
  world: World,
  workers: readonly Worker[],
  { strikes, loadMs, until }: { strikes: readonly Strike[]; loadMs: number; until: AbortSignal | undefined }
): Promise<void> {
  const stop = new AbortController()
  const work = workers.map(worker => worker.run(stop.signal))
  // An early end is no error here.
  const signal = until && { signal: until }
  const loadEnds = pause(loadMs, undefined, signal).then(
    () => stop.abort(),
    () => stop.abort()
  )
  const failures = strikes.map(async ({ fault, at, afterMs, random }) => {
    await Promise.race([pause(afterMs), loadEnds])
    if (until?.aborted) return
    world.history.struck(fault)
    await faults[fault](world, { at, loadEnds, random })
    world.history.over(fault)
  })
  await Promise.all([...work, ...failures])
}

interface Resting {
  listeners: readonly Listener[]
  people: readonly Account[]
  patienceMs: number
}

async function rest(world: World, { listeners, people, patienceMs }: Resting): Promise<void> {
  const { history } = world
  const until = performance.now() + patienceMs
  const missing = () => listeners.flatMap(listener => listener.missing())
  while (missing().length > 0 && performance.now() < until) await pause(20)
  for (const { session, sentence } of missing()) history.complain(sentence, session)
  for (const { token, id, sessions } of people) {
    const client = new Client(world, token)
    for (const session of sessions) await readOn(client, session, until)
    client.leave()
    history.settingsOf(id).forget()
  }
}

async function readOn(client: Client, session: string, until: number): Promise<void> {
  const { history } = client.world
  const told = history.session(session)
  const { steady } = told
  while (steady.cursor < told.highest) {
    const page = await client.readPage(session, steady.cursor, { limit: 500 })
    for (const message of page?.messages ?? []) steady.take(message)
    if (page?.messages.length) continue
    if (performance.now() > until) return history.complain(`session ${session}: it cannot be read to its end at rest`, session)
    await pause(20)
  }
  told.forget()
}

async function audit(world: World, people: readonly Account[]): Promise<void> {
  for (const { token, id, sessions } of people) {
    const client = new Client(world, token)
    for (const session of sessions) await auditSession(client, session)
    const cell = await client.readSettings(id)
    if (cell) world.history.settingsOf(id).audit(cell)
    else world.history.complain(`settings of ${id}: they cannot be read at the end`, id)
    client.leave()
  }
}

async function auditSession(client: Client, session: string): Promise<void> {
  const { history } = client.world
  const judge = history.session(session).audit()
  for (let more = true; more; ) {
    const page = await client.readPage(session, judge.cursor, { limit: 500, how: atTheEnd })
    if (!page) return history.complain(`session ${session}: it cannot be read at the end`, session)
    for (const message of page.messages) judge.take(message)
    more = page.more
  }
  judge.end()
}
