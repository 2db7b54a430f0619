import t from 'tap'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { startServer } from '../../kit/server.ts'
import { startPhone } from '../kit/phone.ts'
import { runOnTerminal } from '../kit/terminal.ts'
import { openTestHome } from '../kit/world.ts'

t.test('running an agent on an unlinked computer links it right there, and the agent starts', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = openTestHome(t)
  const person = runOnTerminal(t, { home, args: ['demo', 'SCRIPT: text hello'], directory: t.testdir() })
  await person.sees(/Which server\?/)
  person.type('nonsense://x\r')
  await person.sees(/not a server address/)
  person.type(`${server.url}\r`)
  await person.sees(/not linked to an account on .*\s+Link it now\? \[Y\/n\]/)
  person.type('\r')
  await person.sees(/Check code (\d{4})/)
  const link = /http\S+\/terminal\/connect#v2=\S+/.exec(person.screen.replaceAll(/\n(?=\S)/g, ''))?.[0] ?? ''
  await phone.pair(link, /Check code (\d{4})/.exec(person.screen)?.[1] ?? '')
  await person.sees(/This computer is linked/)
  await (await phone.session()).until(({ messages }) => messages.length > 0)
  t.match(openHome({ AFIELD_HOME: home }).credentials(server.url), { token: String })
})

t.test('declining to link a computer starts nothing, and shows how to do it later', async t => {
  const home = openTestHome(t)
  const person = runOnTerminal(t, { home, columns: 200, args: ['demo', '--server', 'https://home.example'], directory: t.testdir() })
  await person.sees(/Link it now\? \[Y\/n\]/)
  person.type('n\r')
  t.equal(await person.ended, 1)
  t.match(person.screen, /Nothing was started\. Link it later with:\n {2}node \S*build\.mjs start login --server https:\/\/home\.example/)
})
