import t from 'tap'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { here } from '../kit/here.ts'

const minute = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`
const shownOnce = `\nValid for one account until MINUTE. It is shown only once, and anyone who has it can sign up: send it safely.\n`
const withoutTime = (text: string) => text.replace(new RegExp(minute), 'MINUTE')

async function startInviting(t: Parameters<typeof startServer>[0], options: Parameters<typeof startServer>[1]) {
  const data = t.testdir()
  const open = await startServer(t, { data })
  await signUp(t, open)
  await open.close()
  const server = await startServer(t, { data, ...options })
  const invite = (action?: string, what?: string, url?: string, env: Record<string, string> = {}) =>
    here(t, 'invite', { data, action, what, 'public-url': url }, env)
  return { server, data, invite }
}

t.test('an invitation is a link to the server that is shown once, listed and revoked', async t => {
  const { data, invite } = await startInviting(t, { signup: 'invite', publicUrl: 'https://home.example' })
  const none = `There are no invitations in ${data}. Create one with:\n  ${typed('invite create <name>')}\n`
  t.strictSame(await invite(), { code: 0, stdout: '', stderr: none })
  const made = await invite('create', 'Ada')
  t.match(made.stdout, /^https:\/\/home\.example\/#invite=[\w-]{22}\n$/)
  t.strictSame([made.code, withoutTime(made.stderr)], [0, shownOnce])
  const listed = await invite('list')
  t.match(listed.stdout, new RegExp(`^ {2}invitation +for +state +made +until\n {2}\\w{24} +Ada +unused +${minute} +${minute}\n$`))
  const id = /^ {2}(\w{24}) /m.exec(listed.stdout)?.[1] ?? ''
  t.strictSame(await invite('revoke', id), { code: 0, stdout: `The invitation ${id} can no longer be used.\n`, stderr: '' })
  t.strictSame(await invite(), { code: 0, stdout: '', stderr: none })
  const seeList = `See the list with:\n  ${typed('invite')}\n`
  t.strictSame(await invite('revoke', id), { code: 1, stdout: '', stderr: `Invitation not found. ${seeList}` })
  t.strictSame(await invite('revoke'), { code: 78, stdout: '', stderr: `invite revoke needs the ID of an invitation. ${seeList}` })
})

t.test('the address of the link is that given, in the variable, or of the server, which others must reach', async t => {
  const { server, data, invite } = await startInviting(t, { signup: 'owner' })
  const address = async (url?: string, variable?: string) => {
    const env = variable === undefined ? {} : { AFIELD_PUBLIC_URL: variable }
    const { code, stdout, stderr } = await invite('create', undefined, url, env)
    return code === 0 ? stdout.split('/#invite=')[0] : stderr
  }
  const local = `Only this computer can reach the server at ${server.url}. Give a public address with --public-url.\n`
  t.equal(await address(), local)
  t.strictSame((await invite()).stdout, '', 'none was made')
  t.equal(await address('https://one.example/'), 'https://one.example')
  t.equal(await address('https://one.example', 'https://two.example'), 'https://one.example')
  t.equal(await address(undefined, 'https://two.example'), 'https://two.example')
  t.equal(await address(server.url), server.url, 'one that was given is taken')
  const useless = 'It cannot be used now: the server accepts invitations only when started with --signup invite.\n'
  t.equal(withoutTime((await invite('create', 'Ada', server.url)).stderr), shownOnce + useless)
  await server.close()

  const stopped = 'No server is running that knows its public address. Start it, or give the address with --public-url.\n'
  t.strictSame(await invite('create', 'Ada'), { code: 78, stdout: '', stderr: stopped })
  const later = 'The server accepts invitations only when started with --signup invite.\n'
  t.equal(withoutTime((await invite('create', 'Ada', 'https://one.example')).stderr), shownOnce + later)
  const six = await startServer(t, { data, host: '::1' })
  t.match((await invite('create', 'Ada')).stderr, new RegExp(`^Only this computer can reach the server at http://\\[::1\\]:${six.port}\\.`))
})
