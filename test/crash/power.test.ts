import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { disksProblem, mountsIn, openDisks } from './disks.ts'
import { cutPower } from './power-cuts.ts'

const { number: seed } = sampleSeed

t.test('what was acknowledged or shown survives a power cut [D2]', { skip: disksProblem() ?? false, timeout: 120_000 }, async t => {
  const disks = openDisks()
  t.teardown(() => disks.close())
  const cuts = [0, 1, 2].map(number => seed + number)
  const promises = { answered: 0, seenLive: 0 }
  for (const cut of cuts) {
    const { stored, answered, seenLive, complaints } = await cutPower({ disks, seed: cut })
    t.same(complaints, [], `seed ${cut}: ${stored} messages on disk, ${answered} answers, ${seenLive} seen live`)
    promises.answered += answered
    promises.seenLive += seenLive
  }
  t.ok(promises.answered > 0 && promises.seenLive > 0, 'there was load, and it was watched')
})

t.test('a server that does not sync its commits is caught', { skip: disksProblem() ?? false, timeout: 120_000 }, async t => {
  const disks = openDisks()
  t.teardown(() => disks.close())
  const { complaints } = await cutPower({ disks, seed, nodeArgs: ['--import', `${import.meta.dirname}/sync-never.mjs`] })
  t.match(complaints.join('\n'), /is gone|was promised and is lost/)
})

t.test('the disks of a process that was killed are closed by the next that opens some', { skip: disksProblem() ?? false }, async t => {
  const program = `const { openDisks } = await import('${join(import.meta.dirname, 'disks.ts')}'); console.log(openDisks().fresh().path); setInterval(() => {}, 1_000)`
  const killed = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [path] = await once(killed.stdout, 'data')
  const folder = dirname(String(path).trim())
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  t.equal(mountsIn(folder).length, 2)
  openDisks().close()
  t.equal(mountsIn(folder).length, 0)
  t.notOk(existsSync(folder))
})
