import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { claimConversation } from '../../../../lib/wrapper/home/ownership/claims.ts'

const claimer = `
  import { claimConversation } from ${JSON.stringify(resolve('lib/wrapper/home/ownership/claims.ts'))}
  process.stdin.once('data', () => {
    try {
      claimConversation(process.argv[1], 'talk')
      console.log('got it')
    } catch (error) {
      console.log(error.message)
    }
  })
  console.log('ready')
`

function startClaimer(home: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', claimer, home], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  return { child, line, claim: () => child.stdin.write('now\n') }
}

t.test('of many processes that want one conversation at once, at most one gets it, again when that one has died', async t => {
  const home = t.testdir({})
  const claimers = Array.from({ length: 6 }, () => startClaimer(home))
  t.teardown(() => claimers.forEach(({ child }) => void child.kill('SIGKILL')))
  for (const { line } of claimers) t.equal(await line(), 'ready')
  for (const { claim } of claimers) claim()
  const told = await Promise.all(claimers.map(({ line }) => line()))
  const holder = claimers[told.indexOf('got it')]
  t.equal(told.filter(line => line === 'got it').length, 1)
  t.equal(told.filter(line => / goes on with this conversation/.test(line)).length, 5)
  t.throws(() => claimConversation(home, 'talk'), new RegExp(`as process ${holder?.child.pid}`))

  holder?.child.kill('SIGKILL')
  await once(holder?.child ?? process, 'exit')
  const letGo = claimConversation(home, 'talk')
  t.throws(() => claimConversation(home, 'talk'), new RegExp(`as process ${process.pid}`))
  claimConversation(home, 'another talk')
  t.equal(readdirSync(join(home, 'claims')).length, 2, 'that of the dead one has gone')
  letGo()
  claimConversation(home, 'talk')
})
