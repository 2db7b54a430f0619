import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/async/clock.ts'
import { pause } from '../../lib/async/pause.ts'
import { accountId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { createServer } from '../../lib/server/create.ts'
import { openStore } from '../../lib/store/open.ts'
import { seededRandom } from '../crash/random.ts'
import { type Person, signUp } from '../kit/person.ts'
import { type Answer, browser, type Request, startStandIn, tokenOf } from '../server/push/stand-in.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

/** Waits for another attempt, which the server makes up to hours long, pass so many times faster. */
const hurry = 5
const noticesOfAnAccount = 500
const tokensOfAnAccount = 10

/** So many notices, to ten channels of each account, over providers of which one call in five goes wrong. */
export async function ringing(t: Keeper, { data, notices, seed }: { data: string; notices: number; seed: number }): Promise<Outcome> {
  const random = seededRandom(seed)
  const service = await startStandIn(t)
  const taken = new Map<string, number>()
  const calls = { all: 0, failed: 0 }
  service.answer = request => {
    service.requests.length = 0
    calls.all += 1
    const failure = random.chance(0.2) ? random.pick(failures) : undefined
    if (failure !== undefined) {
      calls.failed += 1
      return failure
    }
    if (request.path.endsWith('/gone')) return { status: 410 }
    const key = `${request.path} ${request.headers['webhook-id'] ?? ''}`
    taken.set(key, (taken.get(key) ?? 0) + 1)
    return request.path.startsWith('/--/') ? expoAnswer(request) : {}
  }

  const clock = hurried()
  const began = Date.now()
  const now = () => began + (Date.now() - began) * hurry
  const complaints: string[] = []
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: error => complaints.push(String(error)), clock: now })
  t.teardown(() => store.close())
  const onError = (error: unknown) => complaints.push(String(error))
  const how = { port: 0, signup: 'open', limits: 'off', logLevel: 'silent', pushAllow: 'loopback', expoUrl: service.url } as const
  const server = await createServer({ ...how, data, store, clock, now, onError })
  t.teardown(() => server.close())

  const people = await Promise.all(
    Array.from({ length: Math.max(2, Math.ceil(notices / noticesOfAnAccount)) }, (_, index) => join(t, server, service.url, index))
  )
  const usedBefore = process.cpuUsage()
  const told = await Promise.all(people.map(person => tellAll(person, Math.ceil(notices / people.length))))
  const outcomesOf = (person: Person, notice: string) => store.findDeliveries(v.parse(accountId, person.id), notice)
  for (const [index, { ada }] of people.entries()) {
    for (const notice of told[index] ?? []) {
      const isWaiting = async () => (await outcomesOf(ada, notice)).some(({ outcome }) => outcome === 'waiting')
      while (await isWaiting()) await pause(50)
    }
  }
  const { user, system } = process.cpuUsage(usedBefore)

  const outcomes = new Map<string, number>()
  for (const [index, { ada, tokens }] of people.entries()) {
    for (const notice of told[index] ?? []) {
      const rows = await outcomesOf(ada, notice)
      if (rows.length === 0 || rows.length > tokens) complaints.push(`${notice} has ${rows.length} outcomes, of ${tokens} channels`)
      for (const { outcome } of rows) {
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        if (!['accepted', 'gone', 'refused', 'expired'].includes(outcome)) complaints.push(`${notice} ended as ${outcome}`)
      }
    }
  }
  for (const [key, count] of taken) if (key.endsWith('-show') && count > 1) complaints.push(`${key} was taken ${count} times`)
  const accepted = outcomes.get('accepted') ?? 0
  if (accepted === 0) complaints.push('nothing arrived')
  const deliveries = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
  const words = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', ')
  const ms = (user + system) / 1000
  return {
    told:
      `${told.flat().length} notices of ${people.length} accounts, ${deliveries} deliveries: ${words}; ${calls.failed} of ${calls.all} calls failed; ` +
      `${(ms / deliveries).toFixed(2)} ms of processor time a delivery and ${Math.round(memoryOf(process.pid).most / mib)} MiB at most, the providers and the callers among it`,
    complaints
  }
}

const failures: (Answer | 'never')[] = [
  ...Array<Answer>(8).fill({ status: 503 }),
  ...Array<Answer>(8).fill({ status: 429, headers: { 'retry-after': '3' } }),
  ...Array<Answer>(4).fill({ status: 500, text: '<html>' }),
  'never'
]

/** An account with channels of every kind; its last webhook is gone for good. */
async function join(t: Keeper, server: { url: string }, service: string, index: number) {
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const at = (name: string) => `${service}/${index}/${name}`
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const tokens = [
    ...[1, 2, 3].map(number => tokenOf('Ntfy', { url: at(`ntfy${number}`) })),
    ...['hook1', 'hook2', 'gone'].map(name => tokenOf('Webhook', { url: at(name), secret })),
    ...[1, 2].map(number => tokenOf('WebPush', { endpoint: at(`push${number}`), keys: browser().keys })),
    ...[1, 2].map(number => `ExponentPushToken[${index}-${number}]`)
  ]
  for (const token of tokens) await ada.call('POST', '/v1/push-tokens', { body: { token } })
  return { ada, session, tokens: tokensOfAnAccount }
}

/** Ten at a time; resolves to their ids. */
async function tellAll({ ada, session }: { ada: Person; session: string }, count: number): Promise<string[]> {
  const left = Array.from({ length: count }, () => crypto.randomUUID())
  const told = [...left]
  const tell = async () => {
    for (let noticeId = left.pop(); noticeId; noticeId = left.pop()) {
      const body = { kind: 'error', title: 'x', body: 'x', noticeId }
      const { status } = await ada.call('POST', `/v1/sessions/${session}/push-event`, { body })
      if (status !== 200) throw new Error(`The notice was answered with ${status}.`)
    }
  }
  await Promise.all(Array.from({ length: 10 }, tell))
  return told
}

function expoAnswer({ path, body }: Request): Answer {
  const asked = JSON.parse(body.toString())
  const ok = { status: 'ok' }
  const data = path.endsWith('send')
    ? asked.map((_: unknown, index: number) => ({ ...ok, id: `t${index}` }))
    : Object.fromEntries(asked.ids.map((id: string) => [id, ok]))
  return { text: JSON.stringify({ data }) }
}

function hurried(): Clock {
  return {
    now: () => performance.now() * hurry,
    after(ms, run) {
      const timer = setTimeout(run, ms / hurry)
      return () => clearTimeout(timer)
    }
  }
}
