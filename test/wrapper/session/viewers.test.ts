import t from 'tap'
import { createViewers } from '../../../lib/wrapper/session/viewers.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { startServer } from '../../kit/server.ts'
import { demo } from '../kit/demo.ts'
import { runOnTerminal } from '../kit/terminal.ts'
import { linkedComputer } from '../kit/world.ts'

t.test('a viewer is counted once, until they leave or are silent for long', t => {
  const clock = manualClock()
  let changes = 0
  const viewers = createViewers(() => changes++, clock)
  viewers.note('phone', true)
  viewers.note('phone', true)
  viewers.note('tablet', true)
  t.strictSame([viewers.count, changes], [2, 2])
  clock.advance(60_000)
  viewers.note('phone', true)
  clock.advance(60_000)
  t.strictSame([viewers.count, changes], [1, 3], 'the tablet was silent')
  viewers.note('phone', false)
  viewers.note('phone', false)
  t.strictSame([viewers.count, changes], [0, 4])
  for (let viewer = 0; viewer < 1000; viewer++) viewers.note(String(viewer), true)
  t.ok(viewers.count < 100, 'nobody fills the memory')
  viewers.close()
  const changesAtEnd = changes
  clock.advance(600_000)
  t.equal(changes, changesAtEnd, 'once it is over nobody hears of it')
  t.end()
})

t.test(
  'the terminal shows how many devices have the session open',
  { skip: process.platform === 'win32' && 'a terminal is needed' },
  async t => {
    const { phone, home } = await linkedComputer(t, await startServer(t))
    const terminal = runOnTerminal(t, { home, directory: home, args: ['demo'] })
    const session = await phone.session()
    await terminal.sees(/Watching +nobody/)
    await session.call('watch', { viewer: 'phone', isWatching: true })
    await terminal.sees(/Watching +1 device/)
    await session.call('watch', { viewer: 'tablet', isWatching: true })
    await terminal.sees(/Watching +2 devices/)
    for (const viewer of ['phone', 'tablet']) await session.call('watch', { viewer, isWatching: false })
    await terminal.sees(/Watching +nobody/)
  }
)

t.test('a growing text is sent whole to a new viewer, though nothing was added', async t => {
  const { session, wrapper } = await demo(t)
  await wrapper.says(/live/)
  await session.say(`SCRIPT: slow 60000 ${'word '.repeat(60)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.call('watch', { viewer: 'phone', isWatching: true })
  await session.until(({ partials }) => partials.some(({ text }, at) => text === partials[at + 1]?.text))
})
