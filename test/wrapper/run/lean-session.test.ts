import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { readStartedLine } from '../../../bin/started-line.ts'

t.test('a session started by the daemon loads neither yargs nor undici, of Node.js or the package', async t => {
  const program = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { main } = await import('./bin/main.ts')
    process.exit = () => {}
    await main(['run', '--tag', 'one'])
    for (const file of ['run/run.ts', 'session/session.ts', 'uplink/network.ts', 'agents/acp/acp.ts']) await import('./lib/wrapper/' + file)
    const heavy = /yargs|undici/
    console.log(JSON.stringify([...process.moduleLoadList, ...loaded].filter(name => heavy.test(name))))`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  t.match(stderr, /Which agent\?/)
  t.same(JSON.parse(stdout), [])
})

t.test('the command lines of daemon and demo are parsed as yargs does, and no others are accepted', async t => {
  t.same(readStartedLine(['claude', '--tag', 'one'])?.args, { _: ['claude'], $0: 'afield', tag: 'one', '--': [] })
  t.same(readStartedLine(['run', '--tag', 'one', '--', 'gemini', '--acp'])?.args, {
    _: ['run'],
    $0: 'afield',
    tag: 'one',
    '--': ['gemini', '--acp']
  })
  t.same(readStartedLine(['demo-agent', '/x/y z'])?.args, { _: ['demo-agent'], $0: 'afield', state: '/x/y z' })
  for (const line of [
    'demo-agent',
    'demo-agent --help',
    'demo-agent /x /y',
    'claude',
    'claude hello',
    'resume --tag one some-id',
    'demo --tag one --folder .',
    'claude --tag',
    'claude --tag=one'
  ])
    t.equal(readStartedLine(line.split(' ')), undefined, line)
})
