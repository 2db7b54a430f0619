import t from 'tap'
import { lacksPublished } from '../kit/needs.ts'
import { startWithAccount } from './socketio-account.ts'
import { clientVersions, loadClient } from './socketio-cache.ts'
import { ask, questions } from './socketio-scenario.ts'

t.test('socket.io-client works in every minor version since 4.0, in everything that clients do', { skip: lacksPublished() }, async t => {
  const { account, close } = await startWithAccount(t.testdir())
  t.teardown(close)
  for (const version of clientVersions) {
    const library = loadClient(version)
    if (!library) throw new Error(`${version} is gone.`)
    for (const question of Object.keys(questions)) await t.resolves(ask(question, library, account), `${version} ${question}`)
  }
})
