import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sealAnswerV1, toBase64 } from '../../../lib/crypto/index.ts'
import { readPairingLink } from '../../../lib/crypto/links.ts'
import { call } from '../../kit/person.ts'
import { startServer, startServerProcess } from '../../kit/server.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import { startPhone } from '../kit/phone.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('the server dies mid-turn, and the phone ends up with all of it, in order', async t => {
  const first = await startServerProcess(t)
  const { phone, home } = await linkedComputer(t, first)
  runWrapper(t, { home, args: ['demo', 'SCRIPT: text before; slow 1500 a b c d e f; many 30 line ;; text after'] })
  const session = await phone.session()
  await session.until(({ partials }) => partials.length > 0)
  await first.kill()
  await startServerProcess(t, { data: first.data, port: Number(new URL(first.url).port) })
  await session.until(session => turnsEnded(session) === 1)
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`)
  t.strictSame(texts(session), ['before', 'a b c d e f', ...lines, 'after'])
})

t.test('a session deleted on another device ends here, at the latest with its next output', async t => {
  const { server, phone, wrapper, session } = await demo(t, ['SCRIPT: slow 1500 a b c'])
  await session.until(({ partials }) => partials.length > 0)
  session.close()
  await call(server, 'DELETE', `/v1/sessions/${session.id}`, { token: phone.token })
  t.equal(await wrapper.ended, 0)
  t.match(wrapper.output, /deleted on another device/)
})

t.test('a computer that got the account secret from an old app encrypts with it', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = join(t.testdir(), 'home')
  const login = runWrapper(t, { home, args: ['login', '--happy', '--server', server.url] })
  const [link] = await login.says(/happy:\/\/terminal\S+/)
  await login.says(/Waiting/)
  const publicKey = readPairingLink(link)?.publicKey ?? new Uint8Array()
  const body = { publicKey: toBase64(publicKey), response: toBase64(sealAnswerV1(phone.secret, publicKey)) }
  t.equal((await call(server, 'POST', '/v1/auth/response', { token: phone.token, body })).status, 200)
  t.equal(await login.ended, 0)
  const wrapper = runWrapper(t, { home, args: ['demo', 'SCRIPT: text old ways'] })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['old ways'])
  t.match((await call(server, 'GET', '/v1/sessions', { token: phone.token })).body.sessions, [{ dataEncryptionKey: null }])
  await wrapper.kill('SIGTERM')
})

t.test(
  'keys and tokens are in no argument or environment of the programs it starts [W6]',
  { skip: process.platform !== 'linux' },
  async t => {
    const { wrapper, home } = await demo(t)
    const secrets = [
      ...readFileSync(join(home, 'credentials.json'), 'utf8').matchAll(/"(?:token|machineKey|contentPublicKey)": "([^"]+)"/g)
    ].map(([, secret]) => secret ?? '')
    t.equal(secrets.length, 3)
    const pid = wrapper.child.pid ?? 0
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    t.equal(children.length, 1)
    for (const process of [pid, ...children]) {
      for (const file of process === pid ? ['cmdline'] : ['cmdline', 'environ']) {
        const text = readFileSync(`/proc/${process}/${file}`, 'utf8')
        for (const secret of secrets) t.notOk(text.includes(secret), `${file} of ${process}`)
        if (file === 'environ') t.notMatch(text, /AFIELD_/)
      }
    }
    t.notOk(secrets.some(secret => wrapper.output.includes(secret)))
  }
)
