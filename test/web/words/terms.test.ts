import t from 'tap'
import { translations } from '../stories/translations.ts'

// docs/glossary.md: what agents run on is a machine, and Afield's program there is its helper. A computer is what somebody sits at.
t.test('one thing has one word in all of the app, in each language', async t => {
  const texts = translations()
  const machines = texts.filter(([english]) => /computer/i.test(english.replace(/\b(this|on a) computer\b/gi, '')))
  t.same(machines, [])
  const helpers = texts.filter(([english]) => /daemon|wrapper/i.test(english.replace('afield daemon start', '')))
  t.same(helpers, [])
  const otherwise = texts.filter(
    ([english, chinese]) => /电脑/.test(chinese) !== /computer/i.test(english) || (/helper/i.test(english) && !/辅助程序/.test(chinese))
  )
  t.same(otherwise, [])
  t.ok(texts.length > 1000)
})
