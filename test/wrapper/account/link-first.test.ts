import t from 'tap'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { startServer } from '../../kit/server.ts'
import { startPhone } from '../kit/phone.ts'
import { runOnTerminal } from '../kit/terminal.ts'
import { openTestHome } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('running an agent on an unlinked computer links it right there, and the agent starts', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = openTestHome(t)
  const person = runOnTerminal(t, {
    home,
    args: ['demo', 'SCRIPT: text hello'],
    directory: t.testdir(),
    env: { AFIELD_DATA: t.testdirName, AFIELD_PORT: '1' }
  })
  await person.sees(/Which server\?/)
  person.type('nonsense://x\r')
  await person.sees(/not a server address/)
  person.type(`${server.url}\r`)
  await person.sees(/Check code (\d{4})/)
  const link = /http\S+\/terminal\/connect#v2=\S+/.exec(person.screen.replaceAll(/\n(?=\S)/g, ''))?.[0] ?? ''
  await phone.pair(link, /Check code (\d{4})/.exec(person.screen)?.[1] ?? '')
  await person.sees(/This computer is linked/)
  await (await phone.session()).until(({ messages }) => messages.length > 0)
  t.match(openHome({ AFIELD_HOME: home }).credentials(server.url), { token: String })
})

t.test('a server of another user at the usual port is offered, and Enter takes it', async t => {
  const server = await startServer(t)
  const home = openTestHome(t)
  const env = { AFIELD_DATA: t.testdir(), AFIELD_PORT: new URL(server.url).port }
  const person = runOnTerminal(t, { home, args: ['login'], directory: t.testdirName, columns: 200, env })
  await person.sees(new RegExp(`or press Enter for ${server.url}, which runs on this computer`))
  person.type('\r')
  await person.sees(new RegExp(`your account on ${server.url}[^]*Check code \\d{4}`))
  const unread = runWrapper(t, { home, args: ['login'], env })
  t.equal(await unread.ended, 78)
  t.match(unread.output, `login --server ${server.url}\n`, 'where nobody can answer, it is named')
})

t.test('where nobody reads the output, an unlinked computer is not linked, and how to do it is shown', async t => {
  const agent = runWrapper(t, { home: openTestHome(t), args: ['demo', '--server', 'https://home.example'] })
  t.equal(await agent.ended, 78)
  t.match(agent.output, /^This computer is not linked to an account on https:\/\/home\.example yet\. Run:\n {2}.* login --server/)
})
