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

t.test('each switch has its default until it is flipped, here and after the app was opened again', async t => {
  page.kept.clear()
  startPreferences()
  const defaults = {
    ...{ wrap: false, sideBySide: true, compact: false, announces: true, enterSends: true },
    ...{ lowData: false, byFolder: false, singleKeys: true, listFolded: false, sideFolded: false }
  } as const
  for (const name of Object.keys(defaults) as (keyof typeof defaults)[]) {
    t.equal(isOn(name), defaults[name], name)
    flip(name)
    t.same([isOn(name), page.kept.get(`afield-${name}`)], [!defaults[name], String(!defaults[name])], name)
    const others = Object.keys(defaults).filter(other => other !== name) as (keyof typeof defaults)[]
    for (const other of others) t.equal(isOn(other), defaults[other], `${name} leaves ${other}`)
    startPreferences()
    t.equal(isOn(name), !defaults[name], `${name} is kept`)
    flip(name)
  }
})

t.test('less data follows the browser until the person chooses', async t => {
  for (const [connection, expected] of [
    [undefined, false],
    [null, false],
    [{}, false],
    [{ saveData: false }, false],
    [{ saveData: 'yes' }, false],
    [{ saveData: true }, true]
  ] as const) {
    t.intercept(globalThis, 'navigator', { value: { connection } })
    page.kept.clear()
    startPreferences()
    t.equal(isOn('lowData'), expected, JSON.stringify(connection))
    page.kept.set('afield-lowData', String(!expected))
    startPreferences()
    t.equal(isOn('lowData'), !expected)
  }
})

t.test('the look chosen before is there from the first paint', async t => {
  for (const [name, value] of Object.entries({
    theme: 'dark',
    confirming: 'taps',
    'quiet-days': 'never',
    listFolded: 'true',
    sideFolded: 'true'
  }))
    page.kept.set(`afield-${name}`, value)
  startPreferences()
  t.same([theme.value, confirming.value, quietDays.value], ['dark', 'taps', 'never'])
  t.same(dataset, { theme: 'dark', list: 'folded', side: 'folded' })
})
