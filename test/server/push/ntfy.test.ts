import t, { type Test } from 'tap'
import { ntfyPush } from '../../../lib/server/push/ntfy.ts'
import type { Outgoing } from '../../../lib/server/push.ts'
import { keptOutbound, never, outgoing } from './outgoing.ts'
import { tokenOf } from './stand-in.ts'

/** What is asked of the server of a topic. */
async function askedFor(t: Test, fields: object, more: Partial<Outgoing>) {
  const { outbound, asked } = keptOutbound()
  t.same(await ntfyPush(outbound).send([outgoing({ token: tokenOf('Ntfy', fields), ...more })], never), [{ outcome: 'accepted' }])
  t.equal(asked.length, 1)
  return asked[0]
}

const url = 'https://ntfy.example/mine'

t.test('a notice is a request to its topic, with a link only where the address of the app is known', async t => {
  const headers = {
    ...{ 'Content-Type': 'text/plain; charset=utf-8', Title: 'A title', Priority: '4', Tags: 'raised_hand', 'X-Sequence-ID': 'session-1' }
  }
  t.strictSame(await askedFor(t, { url }, {}), { url, headers, body: 'A body' })
  const page = 'https://home.example/s/session-1'
  const linked = (label: string) => ({ ...headers, Click: page, Actions: JSON.stringify([{ action: 'view', label, url: page }]) })
  const app = 'https://home.example/'
  t.strictSame(await askedFor(t, { url, app }, {}), { url, headers: linked('Open'), body: 'A body' })
  t.strictSame(await askedFor(t, { url, app }, { language: 'zh' }), { url, headers: linked('打开'), body: 'A body' })
  const secret = await askedFor(t, { url, token: 'tk_secret' }, {})
  t.strictSame(secret, { url, headers: { Authorization: 'Bearer tk_secret', ...headers }, body: 'A body' })
})

t.test('what was answered is deleted from its topic', async t => {
  for (const at of [url, `${url}/`])
    t.strictSame(await askedFor(t, { url: at, token: 'tk_secret' }, { what: 'clear' }), {
      ...{ url: `${url}/session-1`, method: 'DELETE', headers: { Authorization: 'Bearer tk_secret' } }
    })
})

t.test('notices of one session replace each other, and others only their own retry', async t => {
  const sequence = async (more: Partial<Outgoing>) => (await askedFor(t, { url }, more))?.headers['X-Sequence-ID']
  t.equal(await sequence({ session: undefined, notice: 'of no session' }), 'ofnosession')
  t.equal(await sequence({ session: undefined, notice: 'aZ_-09/.'.repeat(20) }), 'aZ_-09'.repeat(20).slice(0, 64))
})

t.test('each kind has its own picture and urgency, and the silent ones no sound', async t => {
  const kinds = {
    ...{ done: ['white_check_mark', '3'], permission: ['raised_hand', '4'], question: ['speech_balloon', '4'], error: ['warning', '3'] },
    ...{ failed: ['warning', '3'], silent: ['hourglass', '3'], machine: ['electric_plug', '3'], device: ['key', '3'] },
    ...{ test: ['wave', '3'], digest: ['inbox_tray', '3'] }
  }
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const { Tags, Priority } = (await askedFor(t, { url }, { kind }))?.headers ?? {}
    t.same([Tags, Priority], kinds[kind], kind)
  }
  t.equal((await askedFor(t, { url }, { isSilent: true }))?.headers['Priority'], '2')
})

t.test('a title that is not ASCII is encoded, as headers are bytes', async t => {
  const title = async (title: string) => (await askedFor(t, { url }, { title }))?.headers['Title']
  t.equal(await title(' to ~'), ' to ~')
  for (const text of ['ü', 'a\nb', 'ü and more'])
    t.equal(await title(text), `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`, JSON.stringify(text))
})

t.test('a topic has an address, and perhaps a token and the address of the app', async t => {
  const provider = ntfyPush(keptOutbound().outbound)
  t.match(provider, { kind: 'ntfy', acknowledges: false, clears: true })
  const table: [fields: object, flaw: string | undefined][] = [
    [{ url }, undefined],
    [{ url, token: '!~'.repeat(100), app: 'https://home.example' }, undefined],
    [{ url, token: 'x'.repeat(201) }, 'Ntfy: token '],
    [{ url, token: '' }, 'Ntfy: token is not an access token'],
    [{ url, token: 'a b' }, 'Ntfy: token is not an access token'],
    [{ url, app: `https://home.example/${'x'.repeat(300)}` }, 'Ntfy: app '],
    [{ url: `https://ntfy.example/${'x'.repeat(2048)}` }, 'Ntfy: url '],
    [{ url, more: 1 }, 'Ntfy: more '],
    [{}, 'Ntfy: url ']
  ]
  for (const [fields, flaw] of table) {
    const found = provider.flawOf(tokenOf('Ntfy', fields))
    if (flaw === undefined) t.equal(found, undefined)
    else t.ok(found?.startsWith(flaw), flaw)
  }
})
