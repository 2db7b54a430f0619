import t from 'tap'
import { startWithAccount } from './socketio-account.ts'
import { type ClientLibrary, clientsCache, clientVersions, loadClient } from './socketio-cache.ts'
import { ask, questions } from './socketio-scenario.ts'

const libraries = clientVersions.map((version): [string, ClientLibrary | undefined] => [version, loadClient(clientsCache(), version)])
const skip =
  libraries.some(([, library]) => !library) &&
  `not all versions of the client are in ${clientsCache()}; node test/interop/socketio-clients.ts --install fetches them`

for (const [version, library] of libraries) {
  t.test(`socket.io-client ${version} works in everything that clients do`, { skip }, async t => {
    if (!library) return
    const { account, close } = await startWithAccount(t.testdir())
    t.teardown(close)
    for (const question of Object.keys(questions)) await t.resolves(ask(question, library, account), question)
  })
}
