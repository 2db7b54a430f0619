import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import { openStore } from '../../lib/store/open.ts'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { draft, sessionId } from '../store/contract/kit.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
const atOnce = 1_000

/** A session that is far too large to remove at once is removed, twice: in peace, and with the server killed while it does. */
export async function largeRemoval(t: Keeper, { data, messages }: { data: string; messages: number }): Promise<Outcome> {
  const born = await startServerProcess(t, { data })
  const ada = await signUp(t, born)
  const [large, second] = [await ada.openSession('large'), await ada.openSession('second')]
  await born.kill()
  await fill(data, ada, { [large]: messages, [second]: Math.ceil(messages / 4) })

  const port = Number(new URL(born.url).port)
  const server = await startServerProcess(t, { data, port })
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const statuses: number[] = []
  const attacked = await bystander.waits(async () => {
    statuses.push((await ada.call('DELETE', `/v1/sessions/${large}`)).status)
    statuses.push((await ada.call('GET', `/v3/sessions/${large}/messages`)).status)
    await removed(data)
  })
  const grown = memoryOf(server.child.pid).most - before
  const again = await ada.openSession('large')

  statuses.push((await ada.call('DELETE', `/v1/sessions/${second}`)).status)
  await server.kill()
  const left = leftIn(data)
  await startServerProcess(t, { data, port })
  await removed(data)
  const { body } = await ada.call('GET', '/v1/account/storage')
  const rest = countOf(data, 'SELECT count(*) FROM message WHERE session IN (SELECT key FROM session) IS FALSE')
  return {
    told: `a session of ${messages} messages was removed, and one of ${Math.ceil(messages / 4)} over a kill that left ${left} of it; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(String(statuses) === '200,404,200' ? [] : [`The removals were answered with ${statuses}.`]),
      ...(again !== large && body.sessions === 1 && body.messages === 0 ? [] : [`The account still has ${JSON.stringify(body)}.`]),
      ...(rest === 0 ? [] : [`${rest} messages belong to nobody.`]),
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`])
    ]
  }
}

async function fill(data: string, { id }: Person, counts: Record<string, number>): Promise<void> {
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken() {} })
  for (const [session, count] of Object.entries(counts)) {
    for (let stored = 0; stored < count; stored += atOnce) {
      const drafts = Array.from({ length: Math.min(atOnce, count - stored) }, () => draft('x'.repeat(200)))
      await store.appendMessages(id as AccountId, sessionId(session), drafts, Date.now())
    }
  }
  await store.close()
}

/** Waits until nothing is left of what was removed. */
async function removed(data: string): Promise<void> {
  while (leftIn(data) > 0) await delay(100)
}

function leftIn(data: string): number {
  return countOf(data, 'SELECT count(*) FROM leftover')
}

function countOf(data: string, sql: string): number {
  const database = new Database(`${data}/afield.db`, { readonly: true })
  try {
    return Number(database.prepare(sql).pluck().get())
  } finally {
    database.close()
  }
}
