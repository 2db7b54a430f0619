import t, { type Test } from 'tap'
import { Connection } from '../../../postgres/engine/connection.ts'
import { Turn } from '../../../postgres/engine/turn.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { turnContract } from '../../store/contract/turns.ts'
import { proveParts } from '../contract.ts'

const insert = 'INSERT INTO note (text) VALUES ($1)'
const byZero = 'SELECT 1 / 0'
const mustRepeat = "DO $$ BEGIN RAISE 'repeat it' USING ERRCODE = '40001'; END $$"
const breakOff = 'SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)'

t.test('a turn', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const url = await postgres.makeDatabase()
  const other = await Connection.open(url)
  t.teardown(() => other.close())
  await other.command(`
    CREATE TABLE account (key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE);
    INSERT INTO account (id) VALUES ('ann'), ('ben');
    CREATE TABLE note (text text UNIQUE DEFERRABLE INITIALLY DEFERRED)`)

  async function open(t: Test): Promise<Connection> {
    await other.command('TRUNCATE note')
    const connection = await Connection.open(url)
    t.teardown(() => connection.drop())
    return connection
  }
  const stored = async () => (await other.all<{ text: string }>('SELECT text FROM note ORDER BY text', [])).map(({ text }) => text)

  await t.test('is stored when it commits and not before, with the statements it did not wait for [D1]', async t => {
    const turn = new Turn(await open(t), [])
    turn.send(insert, ['sent'])
    t.equal(await turn.run(insert, ['waited for']), 1)
    t.same(await turn.get('SELECT count(*) AS notes FROM note', []), { notes: 2 })
    t.same(await stored(), [])
    await turn.commit()
    t.same(await stored(), ['sent', 'waited for'])
  })

  await t.test('locks its accounts, and no others', async t => {
    const turn = new Turn(await open(t), ['ann'])
    await turn.run('SELECT', [])
    const unlocked = 'SELECT id FROM account FOR NO KEY UPDATE SKIP LOCKED'
    t.same(await other.all(unlocked, []), [{ id: 'ben' }])
    await turn.rollBack()
    t.same(await other.all(unlocked, []), [{ id: 'ann' }, { id: 'ben' }])
  })

  await t.test('of no account locks none', async t => {
    const turn = new Turn(await open(t), [])
    const locks = "SELECT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'account'::regclass"
    t.same(await turn.all(locks, []), [])
    await turn.rollBack()
  })

  await t.test('goes on without the parts that the database rejects, each with its own error [D4]', async t => {
    const turn = new Turn(await open(t), [])
    const part = (text: string, end: () => unknown) =>
      turn.guard(async () => {
        turn.send(insert, [text])
        await end()
        return text
      })
    t.equal(await part('first', () => {}), 'first')
    const early = part('early', () => {
      turn.send(byZero, [])
      throw new Error('refused before the answer')
    })
    await t.rejects(early, { message: 'refused before the answer' })
    t.equal(await part('following', () => {}), 'following')
    await t.rejects(
      part('sent', () => turn.send(byZero, [])),
      { message: 'division by zero' }
    )
    await t.rejects(
      part('waited for', () => turn.run('SELECT no_such_column FROM note', [])),
      { message: /no_such_column/ }
    )
    t.equal(await part('last', () => {}), 'last')
    await turn.commit()
    t.same(await stored(), ['first', 'following', 'last'])
  })

  await t.test('does not blame a part for another that failed before, however late its answers come [D4]', async t => {
    const connection = await open(t)
    const command = connection.command.bind(connection)
    connection.command = sql => command(sql).finally(() => new Promise(setImmediate))
    const turn = new Turn(connection, [])
    const sent = turn.guard(async () => turn.send(byZero, []))
    await t.rejects(sent, { message: 'division by zero' })
    const asked = turn.guard(() => Promise.all([byZero, 'SELECT'].map(sql => turn.run(sql, []))))
    await t.rejects(asked, { message: 'division by zero' })
    await t.rejects(
      turn.guard(() => turn.run(mustRepeat, [])),
      { code: '40001' }
    )
    await turn.rollBack()
  })

  await t.test('that must be repeated fails as a whole, whichever part shows it', async t => {
    const turn = new Turn(await open(t), [])
    turn.send(insert, ['before'])
    await t.rejects(
      turn.guard(() => turn.run(mustRepeat, [])),
      { code: '40001' }
    )
    await t.rejects(turn.commit(), { code: '40001' })
    t.same(await stored(), [])
  })

  await t.test('fails with its first error, whichever is asked for', async t => {
    const turn = new Turn(await open(t), [])
    turn.send(byZero, [])
    await t.rejects(turn.get('SELECT', []), { message: 'division by zero' })
    await t.rejects(turn.commit(), { message: 'division by zero' })
  })

  await t.test('that the database refuses to commit is known not to be stored', async t => {
    const turn = new Turn(await open(t), [])
    for (const _ of ['once', 'twice']) turn.send(insert, ['same'])
    await t.rejects(turn.commit(), { name: 'error', code: '23505' })
    t.same(await stored(), [])
  })

  await t.test('that failed before the connection was lost is known not to be stored', async t => {
    const connection = await open(t)
    const turn = new Turn(connection, [])
    turn.send(byZero, [])
    await t.rejects(turn.run('SELECT', []))
    connection.drop()
    await t.rejects(turn.commit(), { message: 'division by zero' })
  })

  await t.test('whose connection is lost before an answer may be stored, and says so', async t => {
    const turn = new Turn(await open(t), [])
    turn.send(breakOff, [])
    await t.rejects(turn.commit(), { name: 'CommitUnknown', cause: { name: 'ConnectionLost' } })
  })

  await t.test('is not reported as stored if something else on its connection made it fail [D1]', async t => {
    const connection = await open(t)
    const turn = new Turn(connection, [])
    await t.rejects(connection.run(byZero, []))
    await t.rejects(turn.commit(), { message: 'A transaction ended with ROLLBACK' })
  })

  await t.test('that is rolled back stores nothing, and the next one can use its connection', async t => {
    const connection = await open(t)
    const turn = new Turn(connection, [])
    turn.send(insert, ['undone'])
    turn.send(byZero, [])
    await turn.rollBack()
    const next = new Turn(connection, [])
    next.send(insert, ['next'])
    await next.commit()
    t.same(await stored(), ['next'])
  })

  await t.test('that cannot be rolled back reports that its connection is lost', async t => {
    const connection = await open(t)
    const turn = new Turn(connection, [])
    await turn.run(insert, ['undone'])
    connection.drop()
    await t.rejects(turn.rollBack(), { name: 'ConnectionLost' })
    t.same(await stored(), [])
  })

  await t.test('that failed to commit is over, and rolling it back does not affect the next', async t => {
    const connection = await open(t)
    const turn = new Turn(connection, [])
    turn.send(byZero, [])
    await t.rejects(turn.commit())
    const next = new Turn(connection, [])
    next.send(insert, ['next'])
    await turn.rollBack()
    await next.commit()
    t.same(await stored(), ['next'])
  })
})

proveParts(t, turnContract)
