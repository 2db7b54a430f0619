import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import type { Server, ServerSetup } from '../../../lib/server/create.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { call, signInBody } from '../../kit/person.ts'
import { isRunning } from '../../kit/running.ts'
import { startServer } from '../../kit/server.ts'

/**
 * A stand-in for one of the programs, alone in the PATH with what it needs. Each start appends its process id and its arguments to the file
 * `starts`, and prints the next of these outputs.
 */
function standIn(t: Test, program: string, outputs: string[]) {
  const folder = join(t.testdir(), 'bin')
  mkdirSync(folder)
  outputs.forEach((text, index) => {
    writeFileSync(join(folder, `output-${index + 1}`), text)
  })
  const starts = join(folder, 'starts')
  writeFileSync(
    join(folder, program),
    `#!/bin/sh
echo "$$ $*" >> '${starts}'
count=$(wc -l < '${starts}')
cat "${folder}/output-$count" >&2
exec sleep 1000
`
  )
  chmodSync(join(folder, program), 0o755)
  setPath(t, `${folder}:/usr/bin:/bin`)
  return () =>
    readFileSync(starts, 'utf8')
      .trim()
      .split('\n')
      .map(line => ({ pid: Number.parseInt(line, 10), args: line.replace(/^\d+ /, '') }))
}

function setPath(t: Test, path: string): void {
  const { PATH } = process.env
  process.env['PATH'] = path
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
}

/** A server, and the next sentence that it tells its operator. */
async function startThrough(t: Test, options: ServerSetup) {
  const heard: string[] = []
  let wake = () => {}
  const tell = (sentences: string) => {
    heard.push(sentences)
    wake()
  }
  const server = await startServer(t, { data: join(t.testdirName, 'data'), tell, ...options })
  async function hears(pattern: RegExp): Promise<string> {
    for (;;) {
      const said = heard.shift()
      if (said === undefined) await new Promise<void>(resolve => (wake = resolve))
      else if (pattern.test(said)) return said
    }
  }
  return { server, hears }
}

/** What a request gets that names this host, as one through the tunnel does. */
async function statusFor({ port }: Server, host: string): Promise<number | undefined> {
  const [answer] = await once(get({ port, path: '/health', headers: { host } }), 'response')
  answer.resume()
  return answer.statusCode
}

const quick = (name: string) => `failed at first: Post "https://api.trycloudflare.com/tunnel"
2026-11-26T18:00:00Z INF |  https://${name}.trycloudflare.com  |
`

t.test('the tunnel has its address from the program, and ends with the server (a stand-in)', async t => {
  const starts = standIn(t, 'cloudflared', [quick('one-two')])
  const { server } = await startThrough(t, { tunnel: 'cloudflared' })
  await server.addressed
  t.equal(server.publicUrl, 'https://one-two.trycloudflare.com')
  const [{ pid = 0, args } = {}] = starts()
  t.equal(args, `tunnel --no-autoupdate --url http://127.0.0.1:${server.port}`)
  t.ok(isRunning(pid))
  await server.close()
  t.notOk(isRunning(pid))
})

t.test('a program that ended is started again, and its new address counts (a stand-in)', async t => {
  const starts = standIn(t, 'cloudflared', [quick('one'), quick('two')])
  const clock = manualClock()
  const { server, hears } = await startThrough(t, { tunnel: 'cloudflared', clock })
  t.equal(await hears(/^The tunnel is open: /), 'The tunnel is open: https://one.trycloudflare.com')
  t.equal(await statusFor(server, 'one.trycloudflare.com'), 200)
  t.equal(await statusFor(server, 'two.trycloudflare.com'), 421)
  process.kill(starts()[0]?.pid ?? 0)
  await hears(/^cloudflared ended, and is started again in \d+ s: .*one\.trycloudflare/)
  clock.advance(60_000)
  await hears(/^The tunnel is open: https:\/\/two\.trycloudflare\.com$/)
  t.equal(server.publicUrl, 'https://two.trycloudflare.com')
  t.equal(await statusFor(server, 'two.trycloudflare.com'), 200)
})

t.test('clients behind the tunnel have limits of their own (a stand-in)', async t => {
  standIn(t, 'cloudflared', [quick('one')])
  const { server } = await startThrough(t, { tunnel: 'cloudflared', limits: 'default' })
  await cryptoReady()
  const statuses = []
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']) {
    const body = await signInBody(engine.randomBytes(32))
    statuses.push((await call(server, 'POST', '/v1/auth', { body, headers: { 'x-forwarded-for': address } })).status)
  }
  t.same(statuses, [200, 200, 200, 200, 200])
})

t.test('a funnel of Tailscale says what its owner must do first (a stand-in)', async t => {
  const starts = standIn(t, 'tailscale', [
    'Funnel is not enabled on your tailnet.\nTo enable, visit:\n\n  https://login.tailscale.com/f/funnel?node=n1\n\nhttps://home.tail1.ts.net/\n|-- proxy http://127.0.0.1:3005\n'
  ])
  const { server, hears } = await startThrough(t, { tunnel: 'tailscale' })
  await hears(/^tailscale: https:\/\/login\.tailscale\.com\/f\/funnel\?node=n1$/)
  await hears(/^The tunnel is open: https:\/\/home\.tail1\.ts\.net$/)
  t.equal(starts()[0]?.args, `funnel ${server.port}`)
})

t.test('a missing program is named in one sentence, before anything else is done', async t => {
  setPath(t, t.testdir())
  const data = join(t.testdirName, 'data')
  for (const tunnel of ['cloudflared', 'tailscale'] as const) {
    await t.rejects(startThrough(t, { tunnel, data }), {
      name: 'CannotStart',
      message: new RegExp(
        `^There is no program ${tunnel}, which --tunnel starts: install it \\(.+\\), or see other ways with: .+ help https$`
      )
    })
    t.notOk(existsSync(data))
  }
})

t.test('a program that cannot be started is named in one sentence', async t => {
  standIn(t, 'cloudflared', [])
  writeFileSync(join(t.testdirName, 'bin', 'cloudflared'), '#!/nowhere/sh\n')
  await t.rejects(startThrough(t, { tunnel: 'cloudflared' }), {
    name: 'CannotStart',
    message: /^The program cloudflared cannot be started \(ENOENT\); see other ways with: .+ help https$/
  })
})
