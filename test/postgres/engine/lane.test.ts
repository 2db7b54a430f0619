import t, { type Test } from 'tap'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { readMigrations } from '../../../lib/store/migrate.ts'
import { prepareDatabase } from '../../../postgres/engine/database.ts'
import type { Deps, Tx } from '../../../postgres/engine/deps.ts'
import { openEngine } from '../../../postgres/engine/engine.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'

const migrations = readMigrations('postgres/')
const [ann, ben] = ['ann', 'ben'].map(name => v.parse(ids.accountId, name)) as [AccountId, AccountId]
const move = (tx: Tx, account: AccountId) => tx.run('UPDATE account SET clock = clock + 1 WHERE id = $1', [account])

t.test('writes in lanes', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t, { deadlock_timeout: '20ms' })
  const turns: number[] = []

  async function open(t: Test): Promise<[Deps, Deps]> {
    const url = await postgres.makeDatabase()
    await prepareDatabase(url, { migrations })
    const engines = [
      openEngine(url, migrations.length, { onCommit: ({ members }) => turns.push(members) }),
      openEngine(url, migrations.length, {})
    ] as const
    t.teardown(() => Promise.all(engines.map(engine => engine.close())))
    const insert = 'INSERT INTO account (id, public_key, created_at) VALUES ($1, $1, 1)'
    for (const account of [ann, ben]) await engines[0].write('shared', tx => tx.run(insert, [account]))
    turns.length = 0
    return [...engines]
  }
  const clockOf = ({ read }: Deps, account: AccountId) =>
    read(async queries => (await queries.get<{ clock: number }>('SELECT clock FROM account WHERE id = $1', [account]))?.clock)

  await t.test('share a transaction, in which one that fails does so alone [D4]', async t => {
    const [engine] = await open(t)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 9 }, (_, index) =>
        engine.write(ann, async tx => {
          await move(tx, ann)
          if (index === 3) throw new Error('refused here')
          if (index === 5) await tx.run('SELECT 1 / 0', [])
          if (index === 7) tx.send('SELECT no_such_column FROM account', [])
          return index
        })
      )
    )
    t.same(
      outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
      [0, 1, 2, 'refused here', 4, 'division by zero', 6, 'column "no_such_column" does not exist', 8]
    )
    t.equal(await clockOf(engine, ann), 6)
    t.same(turns, [9])
  })

  await t.test('are not answered as stored when they hide an error of the database [D1]', async t => {
    const [engine] = await open(t)
    const hiding = engine.write(ann, async tx => {
      await move(tx, ann)
      await tx.run('SELECT 1 / 0', []).catch(() => {})
    })
    await t.rejects(hiding, { message: 'division by zero' })
    t.equal(await clockOf(engine, ann), 0)
  })

  await t.test('that block each other are repeated until each is done', async t => {
    const [one, other] = await open(t)
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    let runs = 0
    const both =
      (mine: 0 | 1, [first, second]: [AccountId, AccountId]) =>
      async (tx: Tx) => {
        runs++
        await move(tx, first)
        begun[mine].resolve()
        await begun[1 - mine]?.promise
        await move(tx, second)
      }
    await Promise.all([one.write('shared', both(0, [ann, ben])), other.write('shared', both(1, [ben, ann]))])
    t.same([await clockOf(one, ann), await clockOf(one, ben)], [2, 2])
    t.ok(runs > 2, `${runs} runs`)
  })

  await t.test('of several accounts lock them in one order, so that they never block each other', async t => {
    const [one, other] = await open(t)
    let runs = 0
    const count = async (tx: Tx) => {
      runs++
      for (const account of [ann, ben]) await move(tx, account)
    }
    const writes = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).write(index % 3 ? [ann, ben] : [ben, ann], count))
    await Promise.all(writes)
    t.equal(runs, 20)
    t.same([await clockOf(one, ann), await clockOf(one, ben)], [20, 20])
  })

  await t.test('that wait for a connection in use are told that it is busy, and not stored [M6]', async t => {
    const [engine] = await open(t)
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ended: string[] = []
    let runs = 0
    const holding = engine.write(ann, async tx => {
      runs++
      await move(tx, ann)
      begun.resolve()
      await held.promise
    })
    holding.finally(() => ended.push('holder')).catch(() => {})
    await begun.promise
    const late = await Promise.allSettled(Array.from({ length: 3 }, () => engine.write(ann, tx => move(tx, ann))))
    ended.push('waiting')
    for (const outcome of late) t.match(outcome, { status: 'rejected', reason: { name: 'StoreBusy', message: /connection .* busy/ } })
    held.resolve()
    await holding
    t.same(ended, ['waiting', 'holder'])
    await engine.write(ann, tx => move(tx, ann))
    t.same([await clockOf(engine, ann), runs], [2, 1])
  })

  await t.test('that wait long behind others, which are stored meanwhile, are stored as well [M6]', async t => {
    const [engine] = await open(t)
    const writes = Array.from({ length: 1_024 }, () =>
      engine.write(ann, async tx => {
        await tx.run('SELECT pg_sleep(0.002)', [])
        await move(tx, ann)
      })
    )
    await Promise.all(writes)
    t.equal(await clockOf(engine, ann), 1_024)
    t.ok(turns.length > 1, 'in several turns, which take longer than any of them may wait for the first')
  })

  await t.test('and reads: those without a connection to be had are told so, and later ones work [M6]', async t => {
    const [engine] = await open(t)
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ended: string[] = []
    let reading = 0
    const holding = Array.from({ length: 6 }, () =>
      engine.read(async () => {
        if (++reading === 6) begun.resolve()
        await held.promise
      })
    )
    const all = Promise.all(holding).then(() => ended.push('holders'))
    await begun.promise
    await t.rejects(clockOf(engine, ann), { name: 'StoreBusy', message: /busy/ })
    ended.push('waiting')
    held.resolve()
    await all
    t.same(ended, ['waiting', 'holders'])
    t.equal(await clockOf(engine, ann), 0)
  })

  await t.test('and so are reads that wait long behind others, each in its turn [M6]', async t => {
    const [engine] = await open(t)
    const answered: number[] = []
    const read = (at: number) => engine.read(queries => queries.all('SELECT pg_sleep(0.4)', []).then(() => answered.push(at)))
    const reads = Array.from({ length: 36 }, (_, at) => read(at))
    await Promise.all(reads)
    t.equal(answered.length, 36)
    t.ok(
      answered.slice(-6).every(at => at >= 30),
      'the last to ask are the last to be answered'
    )
  })

  await t.test('of an account that another connection has locked are told so, and repeated ones work [M6]', async t => {
    const [one, other] = await open(t)
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ended: string[] = []
    const holding = other.write(ann, async () => {
      begun.resolve()
      await held.promise
    })
    holding.finally(() => ended.push('holder')).catch(() => {})
    await begun.promise
    await t.rejects(
      one.write(ann, tx => move(tx, ann)),
      { name: 'StoreBusy' }
    )
    ended.push('waiting')
    held.resolve()
    await holding
    t.same(ended, ['waiting', 'holder'])
    await one.write(ann, tx => move(tx, ann))
    t.equal(await clockOf(one, ann), 1)
  })
})
