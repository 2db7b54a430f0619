import t, { type Test } from 'tap'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { startServer } from '../../kit/server.ts'
import { startStandIn } from '../../server/push/stand-in.ts'
import { linkedComputer } from '../../wrapper/kit/world.ts'
import { here } from '../kit/here.ts'

const example = typed('push add ntfy https://ntfy.sh/a-hard-to-guess-name')
const refused = (stderr: string) => ({ code: 78, stdout: '', stderr })

const elsewhere = 'http://127.0.0.1:1'

async function startPushing(t: Test) {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const { home } = await linkedComputer(t, server)
  const push = (action: string, what?: unknown, address?: string, options: object = {}) =>
    here(t, 'push', { action, what, address, server: server.url, ...options }, { AFIELD_HOME: home, AFIELD_SERVER: elsewhere })
  return { push, home }
}

t.test('without a channel none is listed or tested, and each way to add none is refused', async t => {
  const { push } = await startPushing(t)
  const none = `No device gets notifications yet. Add one with:\n  ${example}\n`
  t.strictSame(await push('status'), { code: 0, stdout: '', stderr: none })
  t.strictSame(await push('test'), refused(none))
  const what = refused(`Add what? For example:\n  ${example}\n`)
  for (const [kind, url] of [[], ['ntfy'], ['webhook'], ['pigeon', 'https://coop.example']] as const)
    t.strictSame(await push('add', kind, url), what, kind ?? 'nothing')
  for (const url of ['ftp://nowhere', 'nowhere', 'https:', 'xhttps://nowhere'])
    t.strictSame(await push('add', 'ntfy', url), refused(`${url} is not a web address; it must begin with https://\n`))
  const seeNumbers = `See the numbers with:\n  ${typed('push')}\n`
  t.strictSame(await push('remove'), refused(`Which one? ${seeNumbers}`))
})

t.test('channels are added, listed, tested by their numbers and removed', async t => {
  const { push } = await startPushing(t)
  const service = await startStandIn(t)
  const added = `Added. Try it with:\n  ${typed('push test')}\n`
  const forbidden = '  2  webhook: refused (HTTP 403)\n'
  const accepted = '  1  ntfy: handed over\n'
  t.strictSame(await push('add', 'ntfy', `${service.url}/mine`, { ntfyToken: 'tk_words' }), { code: 0, stdout: added, stderr: '' })
  const hook = await push('add', 'webhook', `${service.url}/hook`)
  t.match(hook.stdout, /^Its requests are signed with this secret, which is shown only once:\n {2}whsec_\S+\nAdded\./)
  service.answer = ({ path }) => ({ status: path === '/hook' ? 403 : 200 })
  t.strictSame(await push('test', 1), { code: 0, stdout: accepted, stderr: '' })
  t.strictSame(await push('test', '2'), { code: 1, stdout: forbidden, stderr: '' })
  t.strictSame(await push('test'), { code: 1, stdout: accepted + forbidden, stderr: '' })
  t.equal(service.requests.find(({ path }) => path === '/mine')?.headers['authorization'], 'Bearer tk_words')

  const { code, stdout } = await push('status')
  t.equal(code, 0)
  const time = /\d{4}-\d\d-\d\d \d\d:\d\d/g
  const lines = stdout.replace(time, 'NOW').replace(/ {2,}/g, '|').split('\n')
  t.match(lines, [
    /^\|#\|kind\|added by\|sent\|arrived\|last$/,
    /^\|1\|ntfy\|.+\|2\|unknown\|NOW\|handed over$/,
    /^\|2\|webhook\|.+\|\d\|unknown\|NOW\|refused \(HTTP 403\)$/
  ])
  t.strictSame(lines.slice(3), ['|Sent and arrived: in the last 7 days.', ''])

  for (const what of ['0', '3', 'x1', '1x', 'ntfy'])
    t.strictSame(await push('remove', what), refused(`There is no channel ${what}. See the numbers with:\n  ${typed('push')}\n`))
  t.strictSame(await push('remove', '1'), { code: 0, stdout: 'Removed. It gets no more notifications.\n', stderr: '' })
  t.match((await push('status')).stdout, /\n {2}1 +webhook /)
})

t.test('a computer has channels where it is linked', async t => {
  const { home } = await startPushing(t)
  const { code, stdout, stderr } = await here(t, 'push', { action: 'status' }, { AFIELD_HOME: home, AFIELD_SERVER: elsewhere })
  t.strictSame([code, stdout], [78, ''])
  t.match(stderr, elsewhere)
})
