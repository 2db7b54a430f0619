import t from 'tap'
import { pageGlobals } from '../kit/page-globals.ts'

const tabs: { told: unknown[]; hear: ((event: object) => void) | undefined } = { told: [], hear: undefined }
const dataset: Record<string, string> = {}
let reloads = 0
const page = pageGlobals(t, {
  location: { reload: () => reloads++ },
  BroadcastChannel: class {
    postMessage = (message: unknown) => tabs.told.push(message)
    addEventListener = (_: string, hear: (event: object) => void) => {
      tabs.hear = hear
    }
  }
})
Object.assign(document, { documentElement: { dataset } })
const {
  chooseConfirming,
  chooseLanguage,
  chooseQuietDays,
  chooseTheme,
  chosenLanguage,
  confirming,
  flip,
  isOn,
  quietDays,
  startPreferences,
  theme
} = await import('../../../web/core/preferences.ts')
startPreferences()

t.test('a preference applies at once, is kept, and other tabs are told', async t => {
  chooseTheme('dark')
  t.same([theme.value, dataset['theme'], page.kept.get('afield-theme')], ['dark', 'dark', 'dark'])
  t.same(tabs.told.splice(0), [{ type: 'appearance' }])
  chooseTheme('system')
  t.same([theme.value, 'theme' in dataset], ['system', false])
  chooseConfirming('taps')
  t.equal(confirming.value, 'taps')
  chooseConfirming('hold')
  t.equal(confirming.value, 'hold')
  for (const days of [30, 'never', 7] as const) {
    chooseQuietDays(days)
    t.same([quietDays.value, page.kept.get('afield-quiet-days')], [days, String(days)])
  }
  flip('listFolded')
  t.same([isOn('listFolded'), dataset['list'], dataset['side']], [true, 'folded', 'open'])
})

t.test('a preference chosen in another tab applies here too, and what is damaged has its default', async t => {
  for (const [name, value] of [
    ['afield-theme', 'light'],
    ['afield-quiet-days', '30']
  ] as const)
    page.kept.set(name, value)
  tabs.hear?.({ data: { type: 'seen' } })
  t.same([theme.value, quietDays.value], ['system', 7])
  tabs.hear?.({ data: { type: 'appearance' } })
  t.same([theme.value, dataset['theme'], quietDays.value], ['light', 'light', 30])
  for (const name of ['afield-theme', 'afield-quiet-days', 'afield-confirming', 'afield-enterSends']) page.kept.set(name, '8')
  tabs.hear?.({ data: { type: 'appearance' } })
  t.same([theme.value, quietDays.value, confirming.value, isOn('enterSends')], ['system', 7, 'hold', false])
})

t.test('another language reloads the app', async t => {
  chooseLanguage('zh')
  t.same([chosenLanguage(), reloads], ['zh', 1])
  chooseLanguage('system')
  t.same([chosenLanguage(), reloads], [null, 2])
})
