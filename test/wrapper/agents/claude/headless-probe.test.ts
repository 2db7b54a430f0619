import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createHeadlessProbe } from '../../../../lib/wrapper/agents/claude/headless-probe.ts'

t.test('waiting for a Claude Code that stays silent and leaves a child behind is bounded', async t => {
  const directory = t.testdir()
  const claude = join(directory, 'claude')
  // What it has started holds its output open.
  writeFileSync(claude, '#!/bin/sh\nsleep 30 &\nsleep 30\n')
  chmodSync(claude, 0o700)
  const probe = createHeadlessProbe({ claude, directory, env: { PATH: process.env['PATH'] ?? '' }, withinMs: 200 })
  t.same(await probe.commands(), [])
  t.equal(await probe.commandIn('/compact'), undefined)
})

t.test('a Claude Code that cannot be started returns nothing', async t => {
  const directory = t.testdir()
  for (const claude of [join(directory, 'nothing'), 'no\0program']) {
    const probe = createHeadlessProbe({ claude, directory, env: {} })
    t.same(await probe.commands(), [])
    t.equal(await probe.windowOf('a model'), undefined)
  }
})
