import { readdirSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'
import { language, languageFor, languageName, languageNames, locale } from '../../../web/words/language.ts'
import { pluralIn } from '../../../web/words/plural.ts'
import { loadLanguage, loadLaterWords } from '../../../web/words/translations.ts'
import { chinese } from '../../../web/words/zh/index.ts'
import { joining } from '../../../web/words/zh/joining.ts'
import { laterChinese } from '../../../web/words/zh/later.ts'
import { push } from '../../../web/words/zh/push.ts'
import { settings } from '../../../web/words/zh/settings.ts'
import { literalsOnScreen } from '../../kit/literals.ts'

t.test("the language is the chosen one, else the browser's first supported one, else English", async t => {
  t.equal(languageFor('zh', ['en-US']), 'zh')
  t.equal(languageFor('en', ['zh-CN']), 'en')
  t.equal(languageFor(null, ['de-CH', 'zh-CN', 'en']), 'zh')
  t.equal(languageFor(null, ['zh-Hant-TW', 'en']), 'zh')
  t.equal(languageFor(null, ['en-GB', 'zh']), 'en')
  t.equal(languageFor(null, ['de', 'fr']), 'en')
  t.equal(languageFor('klingon', ['zh']), 'zh')
  t.equal(languageFor(null, []), 'en')
})

t.test("plurals follow the rules of the sentence's language", async t => {
  const forms = { one: 'один', few: 'несколько', many: 'много', other: 'дробь' }
  const inRussian = pluralIn('ru')
  t.same(
    [1, 2, 5, 21, 1.5].map(count => inRussian(count, forms)),
    ['один', 'несколько', 'много', 'один', 'дробь']
  )
  t.equal(pluralIn('zh')(1, { one: 'never', other: '总是' }), '总是')
})

t.test('every Chinese sentence is Chinese, with its parameters in it', async t => {
  // The same in every language: the name, and file names.
  const same = new Set(['app.app', 'joining.key.fileName', 'joining.restoreServer.file', 'settings.exportName'])
  for (const { path, text } of sentences({ ...chinese, ...laterChinese, joining, push, settings })) {
    // Commands inside a sentence are not translated.
    if (same.has(path) || /(Text|Hint)\.1$/.test(path)) continue
    t.ok(/\p{Script=Han}/u.test(text) || !/[A-Za-z]{3}/.test(text), `${path}: ${text}`)
  }
})

t.test('Chinese adds little to the first load', async t => {
  const { outputFiles } = await build({
    entryPoints: ['web/words/zh/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    charset: 'utf8',
    write: false
  })
  const size = brotliCompressSync(outputFiles[0]?.contents ?? '').length
  t.ok(size <= 12_000, `${size} bytes`)
})

t.test('times and numbers follow the language, and so does the page', async t => {
  const page = { documentElement: { lang: '', dir: '' } }
  // The only parts of a page that are used.
  await loadLanguage('zh', page as unknown as Document)
  t.same(page.documentElement, { lang: 'zh-Hans', dir: 'ltr' })
  t.equal(language, 'zh')
  t.equal(locale(), 'zh-CN')
  const { ago, agoInWords, clockTime, date, duration, lasting } = await import('../../../web/words/time.ts')
  const now = new Date(2026, 4, 14, 14, 2).getTime()
  t.equal(ago(now - 4 * 60_000, now), '4 分钟')
  t.equal(agoInWords(now - 3 * 3600_000, now), '3 小时前')
  t.equal(clockTime(now - 60_000, now), '14:01')
  t.match(clockTime(now - 2 * 24 * 3600_000, now), /^周二 14:02$/)
  t.equal(date(now), '2026年5月14日')
  t.equal(duration(125_000), '2 分 5 秒')
  t.equal(lasting(30_000), '不到 1 分钟')
  const { homeWords } = await import('../../../web/words/home.ts')
  t.equal(homeWords.needYou(2), '2 个智能体需要你')
})

t.test('screens loaded later are translated too', async t => {
  await loadLaterWords()
  const { session } = await import('../../../web/words/session.ts')
  t.equal(session.today, laterChinese.session.today)
})

t.test('every language is listed by its own name', async t => {
  t.same(languageNames.map(languageName), ['English', '简体中文'])
})

t.test('no visible or announced text is hard-coded in a screen', async t => {
  for (const file of tsxFiles()) for (const text of literalsOnScreen(file)) t.fail(`${file} says “${text}”; words live in web/words`)
  t.ok(tsxFiles().length > 40)
})

function* sentences(words: unknown, path: string[] = []): Generator<{ path: string; text: string }> {
  if (typeof words === 'string') yield { path: path.join('.'), text: words }
  // A list with one number serves as a number, a name and a list.
  else if (typeof words === 'function') yield* sentences(words(...Array(words.length).fill([7])), path)
  else if (typeof words === 'object' && words !== null)
    for (const [name, inner] of Object.entries(words)) yield* sentences(inner, [...path, name])
}

function tsxFiles(): string[] {
  return readdirSync('web', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.tsx'))
    .map(name => `web/${name}`)
}
