import t from 'tap'
import { unknownSettings } from '../../bin/unknown-settings.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

t.test('an AFIELD_ variable that nothing reads is reported, with the likely intended name', async t => {
  const env = { PATH: '/bin', AFIELD_DATA: '/data', AFIELD_HOME: '/home', AFIELD_SINGUP: 'open', AFIELD_COLOUR: 'red' }
  t.strictSame(unknownSettings(env), [
    'The variable AFIELD_SINGUP has no effect. Did you mean AFIELD_SIGNUP?',
    'The variable AFIELD_COLOUR has no effect.'
  ])
})

t.test('the server reports it at startup', async t => {
  const home = t.testdir()
  // Nothing can be kept in a file, so it ends by itself.
  const args = ['serve', '--port', '0', '--data', '/proc/afield']
  const said = runWrapper(t, { home, args, env: { AFIELD_PROT: '1' } })
  t.equal(await said.ended, 78)
  t.match(said.output, 'The variable AFIELD_PROT has no effect. Did you mean AFIELD_PORT?')
})
