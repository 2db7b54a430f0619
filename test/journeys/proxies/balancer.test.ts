import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readBackupKey } from '../../../lib/crypto/index.ts'
import { lacksBalancer, startBalanced } from '../../kit/balancer.ts'
import { type Device, openDevices } from '../../kit/browser.ts'
import { signUp, type Untyped } from '../../kit/person.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { openTestHome, readCode } from '../../wrapper/kit/world.ts'
import { runWrapper } from '../../wrapper/kit/wrapper.ts'

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
    await phone.see('Live')
    t.ok(way.connects > 0, 'the phone has an address of its own')

    const env = { NODE_EXTRA_CA_CERTS: server.authority }
    const home = openTestHome(t)
    const login = runWrapper(t, { home, env, args: ['login', '--server', server.url] })
    const { link, checkCode } = await readCode(login)
    await phone.linkTerminal(link, checkCode)
    t.equal(await login.ended, 0, 'a computer is linked')

    runWrapper(t, { home, env, args: ['demo'] })
    await phone.visit('/')
    await page.locator('a[href^="/s/"]').click()
    await page.waitForURL('**/s/*')
    await say(phone, 'SCRIPT: tool write {"path":"a.txt","content":"pears"} ;; text Written.')
    await page.getByRole('button', { name: /^Allow once/ }).waitFor()
    await page.getByRole('button', { name: /^Allow once/ }).click({ delay: 600 })
    await phone.see('Allowed once by you')
    await phone.see(/^Written\.$/)

    await say(phone, 'SCRIPT: slow 6000 one two three four five six seven eight nine ten ;; text The end.')
    await page.locator('.say', { hasText: /^one two/ }).waitFor()
    await server.instances[ofPhone].kill()
    await say(phone, 'SCRIPT: text Heard at the other.')
    await phone.see(/^The end\.$/)
    await phone.see(/^Heard at the other\.$/)
    for (const text of ['Written.', 'The end.', 'Heard at the other.'])
      t.equal(await page.getByText(text, { exact: true }).count(), 1, text)

    const owner = await signUp(t, server.instances[ofWrapper], key.secret)
    const session = new URL(page.url()).pathname.split('/').at(-1)
    const { body } = await owner.call('GET', `/v3/sessions/${session}/messages?limit=500`)
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

async function say({ page }: Device, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /message/i }).fill(text)
  await page.getByRole('button', { name: /^(Send|Queue)/ }).click()
}
