import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
/** A message may be no larger than 32 MiB with all that is around it. */
const largestMessage = 31
const manners = [...Array(56).fill('fast'), 'slow', 'slow', 'never', 'never'] as const
const after = 10
const readWithinMs = 240_000

interface Read {
  manner: (typeof manners)[number]
  seqs: number[]
  isOver: boolean
  closeCode: number | undefined
}

/** One post of so many MiB, and ten of one, to sixty sockets of its account, of which two read slowly and two nothing. */
export async function largePost(t: Keeper, { data, megabytes }: { data: string; megabytes: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const [alone, ada] = [await signUp(t, server), await signUp(t, server)]
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))

  // What the post itself costs, which nobody reads.
  const unread = await bystander.waits(() => post(alone, megabytes))
  const { most: before } = memoryOf(server.child.pid)
  const worker = new Worker(new URL('readers-thread.ts', import.meta.url), {
    workerData: { port: Number(new URL(server.url).port), from: '127.0.1.1', token: ada.token, manners }
  })
  t.teardown(() => worker.terminate())
  await once(worker, 'message')
  let readers: Read[] = []
  let refused = 0
  const beganAt = performance.now()
  let count = 0
  const attacked = await bystander.waits(async () => {
    const session = await post(ada, megabytes)
    count = Math.ceil(megabytes / largestMessage)
    for (let number = 0; number < after; number += 1) {
      const { status } = await ada.send(session, { localId: `after-${number}`, content: 'x'.repeat(mib) })
      // Who has posted much already waits a little.
      if (status === 429) await delay(1_000)
      if (status === 429) number -= 1
      else if (status === 200) count += 1
      else refused += 1
    }
    const told = once(worker, 'message')
    worker.postMessage({ until: count, withinMs: readWithinMs })
    readers = (await told)[0]
  })
  const s = (performance.now() - beganAt) / 1000
  const grown = memoryOf(server.child.pid).most - before
  const isWhole = ({ seqs }: Read) => seqs.length === count && seqs.every((seq, index) => seq === index + 1)
  const reading = readers.filter(({ manner }) => manner !== 'never')
  const stalled = readers.filter(({ manner }) => manner === 'never')
  const whole = reading.filter(reader => isWhole(reader) && !reader.isOver).length
  return {
    told: `a post of ${megabytes} MiB and ${after} of 1 MiB to ${readers.length} sockets: ${whole} of ${reading.length} that read got all in ${s.toFixed(0)} s, those that read nothing were ${stalled.map(endOf).join(' and ')}; the server grew by ${Math.round(grown / mib)} MiB, its most was ${Math.round(memoryOf(server.child.pid).most / mib)}; while the post alone went on ${toldOf(calm, unread)}; with the readers ${toldOf(calm, attacked)}`,
    complaints: [
      ...(refused === 0 ? [] : [`${refused} messages were refused.`]),
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...reading.flatMap(reader => (isWhole(reader) && !reader.isOver ? [] : [whatCameOf(reader)])),
      ...stalled.flatMap(reader => (isWhole(reader) || (reader.isOver && isRun(reader.seqs)) ? [] : [whatCameOf(reader)]))
    ]
  }
}

/** Posts it in as few messages as may be. Returns the session. */
async function post(person: Person, megabytes: number): Promise<string> {
  const session = await person.openSession()
  const drafts = []
  for (let rest = megabytes; rest > 0; rest -= largestMessage) {
    drafts.push({ localId: `large-${rest}`, content: 'x'.repeat(Math.min(rest, largestMessage) * mib) })
  }
  const { status } = await person.send(session, ...drafts)
  if (status !== 200) throw new Error(`The post was answered with ${status}.`)
  return session
}

function isRun(seqs: number[]): boolean {
  return seqs.every((seq, index) => seq === index + 1)
}

function whatCameOf({ manner, seqs, isOver, closeCode }: Read): string {
  return `A reader (${manner}) got ${seqs.join(' ')} and was ${endOf({ isOver, closeCode })}.`
}

function endOf({ isOver, closeCode }: Pick<Read, 'isOver' | 'closeCode'>): string {
  return isOver ? `closed with ${closeCode ?? 'no code'}` : 'left open'
}
