import { resolve } from 'node:path'
import t from 'tap'
import { startServer } from '../../kit/server.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('other agent options can be chosen on the phone', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  runWrapper(t, { home, args: ['run', '--', process.execPath, resolve('test/wrapper/agents/odd-agent.mjs'), '--settings'] })
  const session = await phone.session()
  await session.until(({ metadata }) => metadata.agentSettings !== undefined)
  t.match(session.metadata.agentSettings, [
    { id: 'fast', name: 'Fast', isSwitch: true, current: 'false', choices: [{ code: 'true' }, { code: 'false' }] },
    { id: 'tone', name: 'Tone', isSwitch: false, current: 'dry', choices: [{ code: 'dry' }, { code: 'warm' }] }
  ])
  t.ok(session.metadata.methods?.includes('setSetting'))
  await session.call('setSetting', { setting: 'fast', value: 'true' })
  await session.until(({ metadata }) => metadata.agentSettings?.[0]?.current === 'true')
  await t.rejects(session.call('setSetting', { setting: 'tone', value: 'loud' }), /no such setting/)
})
