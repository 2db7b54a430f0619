import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { answerFile, readAnswer, saveAnswer } from '../../bin/reach-answer.ts'
import { askAbout, lookAround, offersIn, reachAdvice } from '../../bin/reach-offers.ts'
import { issuedCertificate } from '../kit/certificate.ts'
import { portToKeep } from '../kit/port.ts'
import { programFile } from '../kit/program.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { afield } from './kit/afield.ts'

const name = 'home.tail1.ts.net'
const tunnelUrl = 'https://amber-river-of-words.trycloudflare.com'

/** Stand-ins for the programs, which note each start in the file `starts`. */
const standIns = {
  tailscale: `[ "$1" = status ] && echo '{"BackendState":"Running","Self":{"DNSName":"${name}."},"CertDomains":["${name}"]}'`,
  cloudflared: `echo '|  ${tunnelUrl}  |' >&2; exec sleep 1000`
}

/** A computer that has these programs, and `afield serve` on it. */
async function computerWith(t: Test, programs: readonly (keyof typeof standIns)[], logLevel = 'silent') {
  const home = t.testdir()
  const bin = join(home, 'bin')
  const data = join(home, 'data')
  const starts = join(home, 'starts')
  mkdirSync(bin)
  const install = (program: keyof typeof standIns) => {
    writeFileSync(join(bin, program), `#!/bin/sh\necho "${program} $*" >> '${starts}'\n${standIns[program]}\n`)
    chmodSync(join(bin, program), 0o755)
  }
  programs.forEach(install)
  const port = await portToKeep()
  const args = ['serve', '--port', String(port), '--data', data, '--log-level', logLevel]
  const env = { PATH: `${bin}:/usr/bin:/bin` }
  return {
    data,
    port,
    args,
    env,
    install,
    starts: () => (existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n') : []),
    answer: () => JSON.parse(readFileSync(join(data, 'reach.json'), 'utf8')),
    serve: (more: string[] = []) => runOnTerminal(t, { home, directory: home, columns: 300, env, args: [...args, ...more] })
  }
}

t.test('where nothing is found, the address of the computer and the two shortest ways are named', t => {
  const none = { certified: undefined, hasCloudflared: false } as const
  const toSet = () => ({ how: '', lines: [] })
  const advice = (tailscale: Parameters<typeof offersIn>[0]['tailscale'], addresses: string[]) =>
    reachAdvice({ ...none, tailscale, addresses }, 3005, toSet).map(({ text }) => text)
  const [why, first, second] = advice({ state: 'missing' }, ['192.168.1.10'])
  t.match(why, /require HTTPS\. In its network this computer has the address 192\.168\.1\.10, where phones need HTTPS as well\./)
  t.match(first, /^- Tailscale, for an address that stays: install it/)
  t.match(second, /^- cloudflared, for a try: install it/)
  t.match(advice({ state: 'missing' }, ['10.0.0.2', '192.168.1.10'])[0], 'the addresses 10.0.0.2 and 192.168.1.10, ')
  t.notMatch(advice({ state: 'missing' }, [])[0], 'network')
  t.match(advice({ state: 'logged-out' }, [])[1], 'it is installed here; log in')
  t.match(advice({ state: 'no-https', name }, [])[1], `it is logged in here as ${name}; turn on HTTPS certificates`)
  t.end()
})

t.test('only a clear answer opens the server', async t => {
  const offers = offersIn({ certified: undefined, tailscale: { state: 'ready', name }, hasCloudflared: true }, 3005)
  const takenWith = async (...answers: string[]) => {
    const said = await askAbout(offers, { ask: async () => answers.shift() })
    return said && (said.taken?.name ?? 'none')
  }
  t.equal(await takenWith(''), 'tailscale')
  t.equal(await takenWith('Yes'), 'tailscale')
  t.equal(await takenWith('what?', ''), 'none')
  t.equal(await takenWith('no', 'yess'), 'none')
  t.equal(await takenWith('no', ' y '), 'cloudflared')
  t.equal(await takenWith(), undefined)
})

t.test('an answer that is missing or damaged counts as none, and the offers are made again', async t => {
  const data = t.testdir()
  t.same(readAnswer(data), { declined: [] })
  saveAnswer(data, { taken: { https: 'auto' }, declined: ['tailscale'] })
  t.same(readAnswer(data), { taken: { https: 'auto' }, declined: ['tailscale'] })
  for (const text of ['', '{"declined":', '{}', '{"declined":[],"taken":{"https":"never"}}']) {
    writeFileSync(answerFile(data), text)
    t.same(readAnswer(data), { declined: [] }, text)
  }
})

t.test('a certificate of an earlier start is offered first', async t => {
  const pem = issuedCertificate(t.testdir(), 'afield.example.net')
  const data = join(t.testdirName, 'data')
  mkdirSync(join(data, 'https'), { recursive: true })
  writeFileSync(join(data, 'https', 'afield.example.net.pem'), pem)
  const dayMs = 24 * 60 * 60 * 1000
  t.equal((await lookAround(data, Date.now() + 3 * dayMs)).certified, undefined, 'one that has ended')
  const { certified } = await lookAround(data, Date.now())
  t.match(offersIn({ certified, tailscale: { state: 'ready', name }, hasCloudflared: true }, 3005), [
    { name: 'certificate', stays: true, options: { https: 'auto', 'public-url': 'https://afield.example.net:3005' } },
    { name: 'tailscale' },
    { name: 'cloudflared', stays: false }
  ])
})

t.test('Tailscale that is logged in is offered, and one Enter serves its address, now and at later starts (a stand-in)', async t => {
  const computer = await computerWith(t, ['tailscale'])
  const url = `https://${name}:${computer.port}`
  const first = computer.serve()
  await first.sees(/Phones need HTTPS\. Tailscale is logged in on this computer\. Serve at \S+ts\.net:\d+, .+\? \[Y\/n\]/)
  t.match(first.screen, `afield listening on http://127.0.0.1:${computer.port}`, 'the server does not wait for the answer')
  first.type('\r')
  await first.sees(/demo --server https:/)
  t.match(first.screen, new RegExp(`on your phone, or scan the code below\\.\n  ${url}/#setup=`))
  t.same(computer.answer(), { taken: { https: 'auto' }, declined: [] })
  t.equal(statSync(join(computer.data, 'reach.json')).mode & 0o777, 0o600)
  first.kill('SIGTERM')
  t.equal(await first.ended, 0)

  const second = computer.serve()
  await second.sees(/demo --server https:/)
  t.match(
    second.screen.replaceAll('\n', ' '),
    /As you answered at an earlier start: --https auto\. .+reach\.json: delete that file to be asked again/
  )
  t.notMatch(second.screen, /\[Y\/n\]/)
  second.kill('SIGTERM')
  t.equal(await second.ended, 0)

  const third = computer.serve(['--host', '127.0.0.1'])
  await third.sees(/demo --server http:/)
  t.notMatch(third.screen, /\[Y\/n\]|As you answered/, 'options win over the answer')
})

t.test('a tunnel is opened only after a clear yes (stand-ins)', async t => {
  const computer = await computerWith(t, ['tailscale', 'cloudflared'], 'info')
  const server = computer.serve()
  await server.sees(/\[Y\/n\]/)
  server.type('n\r')
  await server.sees(/\[y\/N\]/)
  t.same(
    computer.starts().filter(start => start !== 'tailscale status --json'),
    []
  )
  server.type('y\r')
  await server.sees(new RegExp(`demo --server ${tunnelUrl}`))
  t.match(server.screen, 'This is for this start only; --tunnel cloudflared opens a tunnel at every start.')
  t.match(server.screen, /Starting again with --tunnel cloudflared\n/)
  t.notMatch(server.screen, /Finishing running requests|Closed/, 'a planned restart does not look like an end')
  t.same(computer.answer(), { declined: ['tailscale'] }, 'the next start asks again')
  const { stdout } = await afield(['config', '--json', '--data', computer.data])
  t.match(JSON.parse(stdout), { tunnel: { value: null } })
})

t.test('an offer that was declined is not made again, and its command is shown; a new one is made (stand-ins)', async t => {
  const computer = await computerWith(t, ['cloudflared'])
  const shown = / {2}\S.* serve --tunnel cloudflared --data \S+/
  const first = computer.serve()
  await first.sees(/\[y\/N\]/)
  first.type('\r')
  await first.sees(shown)
  t.same(computer.answer(), { declined: ['cloudflared'] })
  first.kill('SIGTERM')
  await first.ended

  const second = computer.serve()
  await second.sees(shown)
  t.notMatch(second.screen, /\[y\/N\]/)
  t.same(computer.starts(), [])
  second.kill('SIGTERM')
  await second.ended

  computer.install('tailscale')
  const third = computer.serve()
  await third.sees(/Tailscale .+ \[Y\/n\]/)
  third.type('n\r')
  await third.sees(shown)
  t.same(computer.answer(), { declined: ['cloudflared', 'tailscale'] })
})

t.test('without a terminal nothing is asked or opened: the log has the commands (stand-ins)', async t => {
  const computer = await computerWith(t, ['tailscale', 'cloudflared'])
  const child = spawn(process.execPath, [programFile(), ...computer.args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...computer.env }
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.includes('--tunnel')) break
  }
  t.equal(lines[0], `afield listening on http://127.0.0.1:${computer.port}`)
  const [found, command] = lines.slice(lines.findIndex(line => line.startsWith('Phones cannot use this address')))
  t.match(found, `Tailscale is logged in on this computer. For https://${name}:${computer.port}, start the server with:`)
  t.match(command, `serve --https auto --data ${computer.data} --port ${computer.port}`)
  t.same(computer.starts(), ['tailscale status --json'])
  t.notOk(existsSync(join(computer.data, 'reach.json')))
})

t.test('a program that does not answer is not offered', async t => {
  const bin = t.testdir({ tailscale: '#!/bin/sh\nsleep 1000\n' })
  chmodSync(join(bin, 'tailscale'), 0o755)
  const { PATH } = process.env
  process.env['PATH'] = `${bin}:/usr/bin:/bin`
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  t.match(await lookAround(bin, Date.now()), { tailscale: { state: 'logged-out' } })
})
