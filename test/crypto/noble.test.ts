import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// Node gives the engine of the browser to a process with this condition, so each test here is also a test of @noble.
const here = fileURLToPath(new URL('.', import.meta.url))
const needsNoEngineOrItsOwn = ['backup-key.test.ts', 'bytes.test.ts', 'chromium.test.ts', 'engine.test.ts', 'noble.test.ts']

for (const file of readdirSync(here).filter(name => name.endsWith('.test.ts') && !needsNoEngineOrItsOwn.includes(name))) {
  t.spawn(process.execPath, ['--conditions=browser', `${here}${file}`], {}, `${file} passes with the engine of the browser`)
}
