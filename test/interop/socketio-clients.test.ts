import t from 'tap'
import { startWithAccount } from './socketio-account.ts'
import { clientsCache, clientVersions, loadClient } from './socketio-cache.ts'
import { ask, questions } from './socketio-scenario.ts'

const skip =
  clientVersions.some(version => !loadClient(clientsCache(), version)) &&
  `not all versions of the client are in ${clientsCache()}; node test/interop/socketio-clients.ts --install fetches them`

t.test('socket.io-client works in every minor version since 4.0, in everything that clients do', { skip }, async t => {
  const { account, close } = await startWithAccount(t.testdir())
  t.teardown(close)
  for (const version of clientVersions) {
    const library = loadClient(clientsCache(), version)
    if (!library) throw new Error(`${version} is gone.`)
    for (const question of Object.keys(questions)) await t.resolves(ask(question, library, account), `${version} ${question}`)
  }
})
