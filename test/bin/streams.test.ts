import t from 'tap'
import { afield } from './kit/afield.ts'

t.test('standard output holds only the requested data: notes and errors go to standard error', async t => {
  const env = { AFIELD_HOME: t.testdir(), HOME: t.testdirName }
  const cases: [args: string[], status: number, stdout: string, stderr: RegExp][] = [
    [['sessions'], 0, '', /^No session has run on this computer yet\. Start one with:\n {2}.* claude\n$/],
    [['sessions', 'apples'], 0, '', /^No session matches these words\.\n$/],
    [['sessions', '--json'], 0, '[]\n', /^$/],
    [['resume'], 78, '', /^No session has ended on this computer yet\. See running sessions with:\n {2}.* sessions\n$/],
    [['adopt'], 78, '', /^No agent has a conversation on this computer yet\. Start one with:\n {2}.* claude\n$/],
    [['daemon', 'logs'], 0, '', /^The daemon has not logged anything yet\.\n$/],
    [['logout'], 1, '', /^This computer is not linked to an account\.\n$/],
    [['logout', '--server', 'http://x'], 1, '', /^This computer is not linked to an account on http:\/\/x\.\n$/],
    [['push'], 78, '', /^No server is known yet\. Link this computer to your account with:\n {2}.* login\n$/],
    [
      ['demo', '--server', 'http://x'],
      78,
      '',
      /^This computer is not linked to an account on http:\/\/x yet\. Run:\n {2}.* login --server http:\/\/x\n$/
    ],
    [['login'], 78, '', /^No server is known yet\. Give the address at which you open Afield:\n {2}.* login --server \S+\n$/],
    [['push', '--server', 'http://x y'], 78, '', /^http:\/\/x y is not a server address, such as https:\/\/home\.example or /]
  ]
  for (const [args, status, stdout, stderr] of cases) {
    const ended = await afield(args, env)
    t.equal(ended.status, status, args.join(' '))
    t.equal(ended.stdout, stdout, args.join(' '))
    t.match(ended.stderr, stderr)
    t.notMatch(ended.stdout + ended.stderr, '\x1b')
  }
})
