import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'

const skip = (process.platform !== 'linux' || process.getuid?.() !== 0) && 'only root of a Linux installs'

t.test('test files that need the browser install it once when missing, and none continues without it', { skip }, async t => {
  const bin = t.testdir()
  const place = join(bin, 'chromium')
  // Like apt: it fails if called while it is running.
  writeFileSync(
    join(bin, 'apt-get'),
    `#!/bin/sh
     mkdir ${bin}/working || { echo refused >>${bin}/log; exit 100; }
     sleep 0.3
     [ "$2" = install ] && touch ${place} && echo installed >>${bin}/log
     rmdir ${bin}/working`
  )
  chmodSync(join(bin, 'apt-get'), 0o755)
  const find = `
    const { findOrInstall } = await import(${JSON.stringify(join(import.meta.dirname, 'chromium.ts'))})
    if (findOrInstall([${JSON.stringify(place)}]) !== ${JSON.stringify(place)}) process.exit(1)`
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}`, TMPDIR: bin }
  const files = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', find], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  )
  for (const [code] of await Promise.all(files.map(file => once(file, 'exit')))) t.equal(code, 0)
  t.equal(readFileSync(join(bin, 'log'), 'utf8'), 'installed\n')
})
