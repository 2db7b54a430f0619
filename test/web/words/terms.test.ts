import t from 'tap'
import { translations } from '../stories/translations.ts'

// docs/glossary.md: agents run on a computer, and the program of Afield that stays there is its daemon.
t.test('each term has one word throughout the app, in each language', async t => {
  const texts = translations()
  const otherWords = texts.filter(([english]) => /machine|helper|wrapper/i.test(english))
  t.same(otherWords, [])
  const otherwise = texts.filter(
    ([english, chinese]) =>
      /电脑/.test(chinese) !== /computer/i.test(english) || /守护进程/.test(chinese) !== /\bdaemon\b(?! start)/i.test(english)
  )
  t.same(otherwise, [])
  t.ok(texts.length > 1000)
})
