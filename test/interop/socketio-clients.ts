// A socket.io-client of each minor version since 4.0 against a server of ours.
//   node test/interop/socketio-clients.ts             asks those in the cache, or says how to get them
//   node test/interop/socketio-clients.ts --install   fetches them first, with all that test/kit/published.ts fetches (1.9 GB)
// Exit code 1 when one of them failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacksPublished } from '../kit/needs.ts'
import { fetchPublished, isPublishedThere } from '../kit/published.ts'
import { startWithAccount } from './socketio-account.ts'
import { clientVersions, loadClient } from './socketio-cache.ts'
import { ask, questions } from './socketio-scenario.ts'

async function main(): Promise<void> {
  if (process.argv.includes('--install')) fetchPublished()
  if (!isPublishedThere()) {
    console.log(`skipped: ${lacksPublished()}`)
    return
  }
  const data = mkdtempSync(join(tmpdir(), 'afield-clients-'))
  const { account, close } = await startWithAccount(data)
  console.log(['version', ...Object.keys(questions)].map(name => name.padEnd(10)).join(''))
  for (const version of clientVersions) {
    const library = loadClient(version)
    if (!library) continue
    const cells: string[] = []
    for (const question of Object.keys(questions)) {
      const refusal = await ask(question, library, account).then(
        () => undefined,
        error => error
      )
      cells.push(refusal ? 'FAILED' : 'ok')
      if (!refusal) continue
      console.error(`${version} ${question}: ${refusal}`)
      process.exitCode = 1
    }
    console.log([version, ...cells].map(cell => cell.padEnd(10)).join(''))
  }
  await close()
  rmSync(data, { recursive: true })
}

await main()
