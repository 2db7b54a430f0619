import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { lookAtTailscale, tailscaleSource } from '../../../lib/server/https/tailscale.ts'

const isScript = { skip: process.platform === 'win32' && 'the program is a script' }

/** A program of that name, before all others in the path; what it was called with is in the file. */
function writeTailscale(t: Test, script: string): { calls: () => string } {
  const folder = t.testdir()
  const [program, log] = [join(folder, 'tailscale'), join(folder, 'calls')]
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${log}\n${script}\n`)
  chmodSync(program, 0o755)
  const { PATH = '' } = process.env
  process.env['PATH'] = `${folder}${delimiter}${PATH}`
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  return { calls: () => readFileSync(log, 'utf8') }
}

t.test('what Tailscale says of itself decides whether it can give a certificate', isScript, async t => {
  const running = { BackendState: 'Running', Self: { DNSName: 'Laptop.Tail.ts.net.' }, CertDomains: ['laptop.tail.ts.net'], more: 1 }
  const table: [status: unknown, seen: object][] = [
    [running, { state: 'ready', name: 'laptop.tail.ts.net' }],
    [
      { ...running, CertDomains: ['other.tail.ts.net'] },
      { state: 'no-https', name: 'laptop.tail.ts.net' }
    ],
    [
      { ...running, CertDomains: null },
      { state: 'no-https', name: 'laptop.tail.ts.net' }
    ],
    [{ ...running, BackendState: 'NeedsLogin' }, { state: 'logged-out' }],
    [{ ...running, Self: null }, { state: 'logged-out' }],
    [{ ...running, Self: {} }, { state: 'logged-out' }],
    [{}, { state: 'logged-out' }],
    ['no JSON', { state: 'logged-out' }]
  ]
  for (const [status, seen] of table) {
    await t.test(JSON.stringify(seen), async t => {
      const { calls } = writeTailscale(t, `cat <<'END'\n${typeof status === 'string' ? status : JSON.stringify(status)}\nEND`)
      t.strictSame(await lookAtTailscale(), seen)
      t.equal(calls(), 'status --json\n')
    })
  }
})

t.test('a computer without the program has no Tailscale', async t => {
  const { PATH } = process.env
  process.env['PATH'] = t.testdir()
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  t.strictSame(await lookAtTailscale(), { state: 'missing' })
})

t.test('certificate and key are taken from what Tailscale prints, and are in no file', isScript, async t => {
  const { calls } = writeTailscale(t, 'echo certificate and key')
  const source = tailscaleSource('laptop.tail.ts.net')
  t.match(source, { name: 'laptop.tail.ts.net', authority: 'Tailscale' })
  t.equal(await source.obtain(false, new AbortController().signal), 'certificate and key\n')
  t.equal(calls(), 'cert --cert-file - --key-file - laptop.tail.ts.net\n')
})

t.test('why Tailscale gives no certificate is in its own words, or in how it ended', isScript, async t => {
  for (const [script, why] of [
    ['echo "not enabled" >&2; exit 1', 'not enabled'],
    ['exit 3', 'it exited with 3'],
    ['kill -9 $$', 'it was killed, or took more than three minutes']
  ] as const) {
    await t.test(script, async t => {
      writeTailscale(t, script)
      const { signal } = new AbortController()
      await t.rejects(tailscaleSource('x').obtain(false, signal), { message: `tailscale cert failed: ${why}` })
    })
  }
})
