import t from 'tap'
import { denialReasons, reasonHere } from '../../../web/words/denials.ts'
import { loadLanguage } from '../../../web/words/translations.ts'

t.test("a reason chosen on another device is shown in this device's language, followed by its free text", async t => {
  const english = denialReasons()
  t.equal(reasonHere('换个做法. Use git mv'), 'Do it another way. Use git mv')
  t.equal(reasonHere('Not nowhere'), 'Not nowhere')
  // The only parts of a page that are used.
  await loadLanguage('zh', { documentElement: { lang: '', dir: '' } } as unknown as Document)
  const chinese = denialReasons()
  t.same(english.map(reasonHere), chinese)
  t.same(chinese.map(reasonHere), chinese)
})
