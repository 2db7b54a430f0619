import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { OverQuota } from '../../lib/store/quotas.ts'
import type { Store } from '../../lib/store/store.ts'
import { openPostgresStore } from '../../postgres/store.ts'
import { openSqliteStore } from '../../sqlite/store.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { sampleSeed } from '../kit/seed.ts'
import { sha256, signInAs, tokenDraft } from '../store/contract/kit.ts'
import { pairingSteps, signIns, signUps, tokensAndDevices } from './steps/access.ts'
import { type Play, type Step, type Steps, wait } from './steps/kit.ts'
import { noticeSteps } from './steps/notices.ts'
import { rowSteps, sessionSteps } from './steps/rows.ts'

/** One long run of each part; when all samples are wanted, many short ones, so that a failure shrinks. */
const { runs, length } = sampleSeed.isAll
  ? { runs: 100, length: { minLength: 1, maxLength: 120 } }
  : { runs: 1, length: { minLength: 400, maxLength: 400 } }

t.test('the same calls get the same answers from PostgreSQL as from SQLite', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const folder = t.testdir()
  const open = {
    sqlite: () => {
      const dataDirectory = mkdtempSync(join(folder, 'sqlite-'))
      return openSqliteStore(`${dataDirectory}/store.db`, { dataDirectory, onBroken() {}, clock: Date.now })
    },
    postgres: async () => openPostgresStore(await postgres.makeDatabase(), {})
  }

  const parts: Record<string, Steps[]> = {
    'signing in, tokens and devices': [...signIns, ...tokensAndDevices],
    'signing up': [...signUps, ...signIns],
    pairings: [...Array.from({ length: 5 }, () => pairingSteps).flat(), ...signIns, ...tokensAndDevices],
    sessions: [...sessionSteps, ...signIns.slice(0, 1)],
    'what belongs to sessions and machines': [...rowSteps, ...rowSteps, ...sessionSteps],
    notices: [...noticeSteps, ...noticeSteps, ...noticeSteps, ...noticeSteps, ...tokensAndDevices, ...sessionSteps]
  }
  for (const [name, steps] of Object.entries(parts)) {
    t.test(name, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.oneof(...steps, wait), { ...length, size: 'max' }), async script => {
          const stores = [await open.sqlite(), await open.postgres()] as const
          try {
            await compare(script, stores)
          } finally {
            await Promise.all(stores.map(store => store.close()))
          }
        }),
        { numRuns: runs, seed: sampleSeed.number, endOnFailure: !sampleSeed.isAll }
      )
    })
  }
})

async function compare(script: readonly Step[], stores: readonly [Store, Store]): Promise<void> {
  const [sqlite, postgres] = stores
  const plays = [begin(sqlite), begin(postgres)] as const
  for (const { store } of plays) {
    for (const name of ['ann', 'bob']) {
      await store.signIn(signInAs(name, { token: () => tokenDraft('account', name, 'phone'), challengeHash: sha256(name) }))
    }
  }
  for (const [index, step] of script.entries()) {
    for (const play of plays) Object.assign(play, { step: index, now: 1_000 + index * 2 + play.waited })
    const [expected, given] = [await answerOf(step, plays[0]), await answerOf(step, plays[1])]
    if (!isDeepStrictEqual(given.answer, expected.answer)) {
      throw new Error(`step ${index}, ${step}:\n${JSON.stringify(given)} instead of\n${JSON.stringify(expected)}`)
    }
  }
}

const begin = (store: Store): Play => ({ store, step: 0, now: 1_000, waited: 0, tokens: [], claimed: [] })

/** Each database has its own words for an error. */
async function answerOf(step: Step, play: Play): Promise<{ answer: unknown; error?: string }> {
  try {
    return { answer: plain(await step.run(play)) }
  } catch (error) {
    return { answer: error instanceof OverQuota ? `over ${error.quota}` : 'an error', error: String(error) }
  }
}

/** As a client gets it: without what is undefined. */
function plain(answer: unknown): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
}
