import t from 'tap'
import { feel } from '../../../../web/ui/behavior/haptics.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

t.test('each action has its own vibration, where the device can and the person wants motion', async t => {
  const felt: number[][] = []
  const device = { vibrate: ((pattern: number[]) => felt.push(pattern)) as unknown, isReduced: false }
  const navigator = {
    get vibrate() {
      return device.vibrate
    }
  }
  const matchMedia = (query: string) => ({ matches: query === '(prefers-reduced-motion: reduce)' && device.isReduced })
  pageGlobals(t, { navigator, matchMedia })
  for (const what of ['held', 'sent', 'failed'] as const) feel(what)
  t.same(felt.splice(0), [[10], [20], [30, 60, 30]])
  device.isReduced = true
  feel('sent')
  Object.assign(device, { isReduced: false, vibrate: undefined })
  feel('sent')
  t.same(felt, [])
})
