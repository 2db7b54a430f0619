// Happy's app, built from its sources for the web, against a server of ours in Chromium.
//   node test/interop/happy-app.ts <folder>                builds it into a temporary folder and walks it
//   node test/interop/happy-app.ts <folder> --built <out>  walks what was built into <out> before
//   node test/interop/happy-app.ts --stand-in              tries the walk itself, on a page with the words of the app
// The folder has the sources of the app: its repository, or the package happy-app of it. Exit code 1 when a step failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp, findApp, hasPictures, serveApp } from './happy-app-build.ts'
import { serveStandIn } from './happy-app-stand-in.ts'
import { walkApp } from './happy-app-walk.ts'
import { Steps } from './steps.ts'

type Served = Pick<Parameters<typeof walkApp>[0], 'app' | 'hasPictures'>

async function main(args: string[]): Promise<void> {
  const serve = readArguments(args)
  const own = mkdtempSync(join(tmpdir(), 'afield-happy-app-'))
  const ends: (() => unknown)[] = [() => rmSync(own, { recursive: true, force: true, maxRetries: 3 })]
  const teardown = (end: () => unknown) => void ends.unshift(end)
  const steps = new Steps(line => console.log(line))
  try {
    await walkApp({ ...(await serve(own, teardown)), folder: own, steps, teardown })
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  for (const end of ends) await end()
  console.log(steps.summary())
}

function readArguments([folder, flag, built, ...more]: string[]): (own: string, teardown: (end: () => unknown) => void) => Promise<Served> {
  if (folder === '--stand-in' && flag === undefined)
    return async (_, teardown) => ({ app: await serveStandIn({ teardown }), hasPictures: true })
  if (folder === undefined || (flag !== undefined && (flag !== '--built' || built === undefined)) || more.length > 0)
    throw new Error("Name the folder with the sources of Happy's app: node test/interop/happy-app.ts <folder> [--built <out>]")
  const app = findApp(folder)
  return async (own, teardown) => {
    const out = built ?? join(own, 'web')
    if (built === undefined) await buildApp(app, out)
    const { url, server } = await serveApp(out)
    teardown(() => server.close())
    return { app: url, hasPictures: hasPictures(app) }
  }
}

await main(process.argv.slice(2)).catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
