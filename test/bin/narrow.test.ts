import t from 'tap'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'

const columns = 40

t.test('questions break between words on a narrow terminal', async t => {
  const home = t.testdir()
  const server = 'http://127.0.0.1:1'
  const which = runOnTerminal(t, { home, directory: home, columns, args: ['demo'] })
  await which.sees(/Which server\? Type the address at\nwhich you open Afield, such as\nhttps:\/\/home\.example\n>/)
  const linking = runOnTerminal(t, { home, directory: home, columns, args: ['demo', '--server', server] })
  await linking.sees(/This computer is not linked to an\naccount on http:\/\/127\.0\.0\.1:1 yet\.\nLink it now\? \[Y\/n\]/)
})
