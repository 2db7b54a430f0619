// Happy's app, built from its sources for the web, against a server of ours in Chromium.
//   node test/interop/happy-app.ts <folder>                builds it into a temporary folder and walks it
//   node test/interop/happy-app.ts <folder> --built <out>  walks what was built into <out> before
// The folder has the sources of the app: its repository, or the package happy-app of it. Exit code 1 when a step failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp, findApp, serveApp } from './happy-app-build.ts'
import { walkApp } from './happy-app-walk.ts'
import { Steps } from './steps.ts'

async function main([folder, flag, built, ...more]: string[]): Promise<void> {
  if (folder === undefined || (flag !== undefined && (flag !== '--built' || built === undefined)) || more.length > 0)
    throw new Error("Name the folder with the sources of Happy's app: node test/interop/happy-app.ts <folder> [--built <out>]")
  const app = findApp(folder)
  const own = mkdtempSync(join(tmpdir(), 'afield-happy-app-'))
  const ends: (() => unknown)[] = [() => rmSync(own, { recursive: true, force: true, maxRetries: 3 })]
  const steps = new Steps(line => console.log(line))
  try {
    const out = built ?? join(own, 'web')
    if (built === undefined) await buildApp(app, out)
    const { url, server } = await serveApp(out)
    ends.unshift(() => server.close())
    await walkApp({ app: url, folder: own, steps, teardown: end => ends.unshift(end) })
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  for (const end of ends) await end()
  console.log(steps.summary())
}

await main(process.argv.slice(2)).catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
