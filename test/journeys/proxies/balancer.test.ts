import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t from 'tap'
import { readBackupKey } from '../../../lib/crypto/index.ts'
import { lacksBalancer, startBalanced } from '../../kit/balancer.ts'
import { openDevices } from '../../kit/browser.ts'
import { signUp, type Untyped } from '../../kit/person.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { startPhone } from '../../wrapper/kit/phone.ts'
import { openTestHome, readCode } from '../../wrapper/kit/world.ts'
import { runWrapper } from '../../wrapper/kit/wrapper.ts'
import { pressAwake, say } from '../kit/decision-world.ts'
import { agentTexts, missingInOrder, storedTexts } from '../kit/told-texts.ts'

// As test/journeys/first-slice.test.ts with one server.
t.test(
  'a person with a phone guides an agent behind a balancer while the instance of the phone is killed',
  { skip: lacksBalancer },
  async t => {
    const data = t.testdir({ one: {}, two: {} })
    const server = await startBalanced(t, data, { signup: 'owner', limits: 'default' })
    // The wrapper comes from this one, the phone from an address of the other instance.
    const isWithOne = (await server.addressFor('one')) === '127.0.0.1'
    const [ofPhone, ofWrapper] = isWithOne ? (['two', 'one'] as const) : (['one', 'two'] as const)
    const localAddress = await server.addressFor(ofPhone)
    const way = await openTcpProxy(t, `http://127.0.0.1:${server.port}`, { localAddress })
    const devices = await openDevices(t, { trustedKey: server.keyHash, instead: `localhost ${new URL(way.url).host}` })
    const phone = await devices.open(t, server.url)
    const { page } = phone

    const setupCode = readFileSync(join(data, ofWrapper, 'setup-code'), 'utf8').trim()
    const key = readBackupKey(await phone.createAccount({ setupCode }))
    if (!key.ok) throw new Error('The page shows no account key')
    t.notMatch(page.url(), /setup/, 'the setup code left the address')
    await phone.see('Live')
    t.ok(way.connects > 0, 'the phone has an address of its own')

    const env = { NODE_EXTRA_CA_CERTS: server.authority }
    const home = openTestHome(t)
    const login = runWrapper(t, { home, env, args: ['login', '--server', server.url] })
    const { link, checkCode } = await readCode(login)
    await phone.linkTerminal(link, checkCode)
    t.equal(await login.ended, 0, 'a computer is linked')

    setDefaultCACertificates([...getCACertificates(), readFileSync(server.authority, 'utf8')])
    const witness = await startPhone(t, server, key.secret)
    runWrapper(t, { home, env, args: ['demo'] })
    const session = await witness.session()
    await phone.visit(`/s/${session.id}`)
    const notes = () => readFileSync(join(home, 'demo', 'notes.md'), 'utf8')
    await say(phone, 'Bring apples')
    await page.getByRole('heading', { name: 'Edit notes.md?' }).waitFor()
    t.match(await page.locator('.dock').innerText(), /Bring apples/, 'the change is shown where it is decided')
    t.notMatch(notes(), /Bring apples/, 'nothing is written before the decision')
    await pressAwake(phone, /^Allow once/)
    await phone.see('Allowed once by you')
    await phone.see('Turn off the network')
    t.match(notes(), /- Bring apples\n$/, 'the file is written')

    await say(
      phone,
      'SCRIPT: think hm; text Before it. ;; slow 6000 one two three four five six seven eight nine ten eleven twelve ;; text After it.'
    )
    await page.locator('.say', { hasText: /^one two/ }).waitFor()
    t.equal(await page.getByText('After it.', { exact: true }).count(), 0, 'text is shown as it grows')
    await server.instances[ofPhone].kill()
    await say(phone, 'SCRIPT: text Heard at the other.')
    await phone.see(/^After it\.$/)
    await phone.see(/^Heard at the other\.$/)

    const tablet = await phone.openTab(`/s/${session.id}`)
    await tablet.see(/^Heard at the other\.$/)
    await say(tablet, 'SCRIPT: tool write {"path":"a.txt","content":"pears"} ;; text Heard from the other tab.')
    await pressAwake(phone, /^Allow once/)
    await phone.see(/^Heard from the other tab\.$/)
    t.equal(readFileSync(join(home, 'demo', 'a.txt'), 'utf8'), 'pears', 'what one tab asked for, the other allowed')

    const reader = await startPhone(t, server, key.secret)
    const kept = await storedTexts(await reader.session(), 'Heard from the other tab.')
    t.strictSame(kept, agentTexts(home), 'the server has everything the agent said, once and in order')
    const shown = await page.getByRole('log').textContent()
    t.same(missingInOrder(shown ?? '', kept), [], 'and so has the phone')
    for (const text of ['After it.', 'Heard at the other.', 'Heard from the other tab.'])
      t.equal(await page.getByText(text, { exact: true }).count(), 1, text)

    const owner = await signUp(t, server.instances[ofWrapper], key.secret)
    const { body } = await owner.call('GET', `/v3/sessions/${session.id}/messages?limit=500`)
    const stored: Untyped[] = body.messages
    const seqs = stored.map(({ seq }) => seq).toSorted((a, b) => a - b)
    t.same(
      seqs,
      [...seqs.keys()].map(nth => nth + 1),
      'no number is missing'
    )
    t.equal(new Set(stored.map(({ localId }) => localId)).size, stored.length, 'no message is stored twice')
  }
)
