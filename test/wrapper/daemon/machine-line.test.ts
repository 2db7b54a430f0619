import { once } from 'node:events'
import t, { type Test } from 'tap'
import { callMachine } from '../../../lib/client/calls/machine-calls.ts'
import { createRest, type Rest } from '../../../lib/client/link/rest.ts'
import { type LiveSocket, openSocket } from '../../../lib/client/link/socket.ts'
import { writeDaemonState, writeMachineMetadata } from '../../../lib/client/outbox/cell-writers.ts'
import { terminalVault } from '../../../lib/client/sealed/vault.ts'
import { signIn } from '../../../lib/client/sign-in/login.ts'
import { type Cipher, cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { type DaemonState, daemonState, type MachineMetadata, machineMetadata } from '../../../lib/protocol/sealed/machine.ts'
import * as v from '../../../lib/schema.ts'
import { type LineState, openMachineLine } from '../../../lib/wrapper/daemon/machine-line.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { startServer } from '../../kit/server.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { openTestHome } from '../kit/world.ts'

t.test('a computer is online for a phone, says what it is able to do, and that it goes', async t => {
  const { open, read, until, call, home } = await account(t)
  const before = Date.now()
  const { line, heard, until: linked } = open()
  t.strictSame(line.state, { type: 'connecting' })
  await linked('live')
  const { state, metadata, row } = await until(({ state, metadata }) => state?.status === 'running' && metadata.methods !== undefined)
  t.strictSame(await call(), { on: false, isAwake: false, canDo: true }, 'it can be called')
  t.ok(row.active)
  t.match(state, { pid: process.pid, startedWithCliVersion: metadata.happyCliVersion })
  t.ok(Number(state?.startedAt) >= before)
  t.match(metadata, {
    happyHomeDir: home.path,
    methods: ['keep-awake'],
    cliAvailability: { demo: true, codex: false },
    resumeSupport: { rpcAvailable: true, requiresSameMachine: true, requiresHappyAgentAuth: false, happyAgentAuthenticated: false }
  })

  await line.close()
  const after = await read()
  t.match(after.state, { status: 'offline', pid: process.pid })
  t.ok(Number(after.state?.shutdownRequestedAt) >= Number(state?.startedAt))
  t.strictSame(heard, [{ type: 'live' }], 'its own end is no trouble')
})

t.test('the name that a phone gave a computer outlives its daemon', async t => {
  const { open, until, cipher, phone, home } = await account(t)
  const first = open()
  await first.until('live')
  const { row, metadata } = await until(({ metadata }) => metadata.methods !== undefined)
  await first.line.close()
  const write = writeMachineMetadata(phone, home.machineId)
  const renamed = cipher.seal({ ...metadata, methods: undefined, displayName: 'Studio' })
  t.match(await write(row.metadataVersion, renamed), { type: 'written' })
  open()
  t.match((await until(({ metadata }) => metadata.methods !== undefined)).metadata, { displayName: 'Studio' })
})

t.test('a computer says how it is when it returns, if the server has it otherwise', async t => {
  const { open, until, cipher, phone, home, server } = await account(t)
  const proxy = await openTcpProxy(t, server.url)
  const { heard, until: linked } = open({ server: proxy.url })
  await linked('live')
  const isSaid = (now: { state: DaemonState | undefined; metadata: MachineMetadata }) =>
    now.state?.pid === process.pid && now.metadata.methods !== undefined
  const { row, metadata } = await until(isSaid)
  await proxy.closePort()
  proxy.cut()
  await linked('away')
  t.match(heard, [{ type: 'live' }, { type: 'away', reason: /./ }])
  const writeState = writeDaemonState(phone, home.machineId)
  const writeMetadata = writeMachineMetadata(phone, home.machineId)
  t.match(await writeState(row.daemonStateVersion, cipher.seal({ status: 'running', pid: -1 })), { type: 'written' })
  t.match(await writeMetadata(row.metadataVersion, cipher.seal({ ...metadata, methods: undefined })), { type: 'written' })
  await proxy.openPort()
  await until(isSaid)
})

t.test('a server that was restored to before the daemon began hears of it again', async t => {
  const { open, until, cipher, rest, home, server } = await account(t)
  const proxy = await openTcpProxy(t, server.url)
  const { until: linked } = open({ server: proxy.url })
  await linked('live')
  const { metadata } = await until(({ state, metadata }) => state !== undefined && metadata.methods !== undefined)
  await proxy.closePort()
  proxy.cut()
  await linked('away')
  const id = home.machineId
  await rest.call('removeMachine', { params: { id } })
  const earlier = cipher.seal({ ...metadata, methods: undefined })
  await rest.call('openMachine', { body: { id, metadata: earlier, dataEncryptionKey: null } })
  await proxy.openPort()
  await until(({ state, metadata }) => state?.pid === process.pid && metadata.methods !== undefined)
})

t.test('a computer that cannot reach its server says why, and is linked as soon as it can', async t => {
  const { open } = await account(t)
  let failures = 1
  const { heard, until } = open({ fetch: (url, init) => (failures-- > 0 ? Promise.reject(new Error('no route')) : fetch(url, init)) })
  await until('live')
  t.match(heard, [{ type: 'away', reason: /./ }, { type: 'live' }])
})

t.test('a computer whose link was ended says so, before it is connected and after', async t => {
  const { open, rest } = await account(t)
  const stranger = open({ token: 'nonsense' })
  await stranger.until('unlinked')
  t.strictSame(stranger.heard, [{ type: 'unlinked' }])

  const { token, id } = await rest.call('createToken', { body: { name: 'of this computer', scopes: ['read', 'write', 'call', 'manage'] } })
  const { until, heard } = open({ token })
  await until('live')
  await rest.call('revokeToken', { params: { id } })
  await until('unlinked')
  t.strictSame(heard.at(-1), { type: 'unlinked' })
})

t.test('one that is closed before it was linked says nothing more', async t => {
  const { open } = await account(t)
  const asked = Promise.withResolvers<AbortSignal>()
  const { line, heard } = open({
    fetch: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        asked.resolve(signal)
      })
  })
  const signal = await asked.promise
  t.notOk(signal.aborted)
  await line.close()
  t.ok(signal.aborted, 'and its request does not keep the process running')
  await new Promise(setImmediate)
  t.strictSame(heard, [])
  t.strictSame(line.state, { type: 'connecting' })
})

/** A computer linked to an account, and a phone of it. */
async function account(t: Test) {
  await cryptoReady()
  const server = await startServer(t)
  const home = openHome({ AFIELD_HOME: openTestHome(t) })
  const secret = engine.randomBytes(32)
  const keys = { version: 1 as const, secret }
  const { cipher } = terminalVault(keys).machine
  const { token } = await signIn({ server: server.url, secret, fetch })
  const rest = createRest({ server: server.url, token, fetch })
  const phone = openSocket({ server: server.url, token, scope: { as: 'app' }, WebSocket })
  t.teardown(() => phone.close())
  return {
    server,
    home,
    cipher,
    rest,
    phone,
    open: ({ server: url = server.url, ...how }: Partial<LineOptions> & { server?: string } = {}) =>
      openLine(t, { home, credentials: { server: url, token, keys }, token, ...how }),
    call: () => callMachine(phone, cipher, home.machineId, 'keep-awake', {}),
    ...reader(rest, phone, cipher)
  }
}

type LineOptions = Parameters<typeof openMachineLine>[0]

function openLine(t: Test, options: Pick<LineOptions, 'home' | 'credentials' | 'token'> & Partial<LineOptions>) {
  const heard: LineState[] = []
  const bell = new EventTarget()
  const line = openMachineLine({
    handlers: { 'keep-awake': () => ({ on: false, isAwake: false, canDo: true }) },
    agents: () => ({ demo: true, codex: false }),
    fetch,
    onForged() {},
    ...options,
    onState(state) {
      heard.push(state)
      bell.dispatchEvent(new Event('news'))
    }
  })
  t.teardown(() => line.close())
  const until = async (type: LineState['type']) => {
    while (line.state.type !== type) await once(bell, 'news')
  }
  return { line, heard, until }
}

/** What the server has of the computer, opened. */
function reader(rest: Rest, phone: LiveSocket, cipher: Cipher) {
  const open = (value: string) => {
    const opened = cipher.open(value)
    return opened.ok ? opened.value : undefined
  }
  const read = async () => {
    const [row] = await rest.call('listMachines', {})
    if (!row) throw new Error('no computer is known')
    const state = row.daemonState === null ? undefined : v.parse(daemonState, open(row.daemonState))
    return { row, state, metadata: v.parse(machineMetadata, open(row.metadata)) }
  }
  return {
    read,
    /** Asked again at each update of the account. */
    async until(what: (now: Awaited<ReturnType<typeof read>>) => boolean) {
      const bell = new EventTarget()
      const ring = () => bell.dispatchEvent(new Event('news'))
      const stops = [phone.onUpdate(ring), phone.onEphemeral(ring), phone.onState(ring)]
      for (;;) {
        const news = once(bell, 'news')
        const now = await read()
        if (what(now)) {
          for (const stop of stops) stop()
          return now
        }
        await news
      }
    }
  }
}
