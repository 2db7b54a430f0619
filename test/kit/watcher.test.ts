import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { lacks } from './needs.ts'
import { lacksPostgres } from './postgres.ts'

const isElsewhere = process.platform !== 'linux' && 'it looks into /proc'

t.test('a PostgreSQL ends with the test that started it, even if the test is killed', { skip: lacksPostgres }, async t => {
  await endsWithItsTest(
    t,
    `const { startPostgres } = await import(process.argv[1] + '/postgres.ts')
    const postgres = await startPostgres({ teardown() {} })
    const [{ data_directory: data }] = await postgres.query('SHOW data_directory')
    console.log(new URL(postgres.urlOf('postgres')).port, data)`
  )
})

t.test('a Redis ends with its test, too, even if it is paused', { skip: isElsewhere || lacks('redis') }, async t => {
  await endsWithItsTest(
    t,
    `const { startRedis } = await import(process.argv[1] + '/redis.ts')
    const redis = await startRedis({ teardown() {} })
    const [, folder] = (await redis.ask('CONFIG', 'GET', 'dir')).split('\\n')
    redis.pause()
    console.log(redis.port, folder)`
  )
})

async function endsWithItsTest(t: Test, begin: string): Promise<void> {
  const test: ChildProcess = spawn(
    process.execPath,
    ['--input-type=module', '-e', `${begin}\nsetInterval(() => {}, 1000)`, resolve('test/kit')],
    {
      stdio: ['ignore', 'pipe', 'inherit']
    }
  )
  if (!test.stdout) throw new Error('no output')
  const [line] = await once(createInterface(test.stdout), 'line')
  const [port, folder] = line.split(' ')
  t.ok(existsSync(folder))
  t.ok(await isListening(Number(port)), 'it runs')
  test.kill('SIGKILL')
  while ((await isListening(Number(port))) || existsSync(folder)) await pause(20)
  t.pass('it is gone, and so is its folder')
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  const is = await promise
  socket.destroy()
  return is
}
