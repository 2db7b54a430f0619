// The published `happy` CLI against a server of ours, unchanged and for real.
//   node test/interop/happy-cli.ts            runs the scenario with the CLI in the cache, or says how to get it
//   node test/interop/happy-cli.ts --install  fetches it first, with all that test/kit/published.ts fetches (1.9 GB)
//   … --first-form                            pairs as older apps do, and so has everything sealed the older way
//   … --instances                             two instances behind nginx, on PostgreSQL and Redis, which are killed in turn
// Exit code 1 when a step failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacksPublished } from '../kit/needs.ts'
import { fetchPublished } from '../kit/published.ts'
import { findHappy } from './happy.ts'
import { playScenario } from './scenario.ts'
import { startInstances, startSingle } from './site.ts'
import { Steps } from './steps.ts'

async function main(): Promise<void> {
  if (process.argv.includes('--install')) fetchPublished()
  const entry = findHappy()
  if (!entry) {
    console.log(`skipped: ${lacksPublished()}`)
    return
  }
  const steps = new Steps(line => console.log(line))
  const folder = mkdtempSync(join(tmpdir(), 'afield-happy-'))
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })]
  try {
    const form = process.argv.includes('--first-form') ? 1 : 2
    const start = process.argv.includes('--instances') ? startInstances : startSingle
    await playScenario({ entry, folder, steps, form, teardown: end => ends.unshift(end) }, start)
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  for (const end of ends) await end()
  console.log(steps.summary())
}

await main()
