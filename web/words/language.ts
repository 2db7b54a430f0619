/** A language of the app. */
interface Language {
  /** In itself: who looks for it cannot read the others. */
  readonly name: string
  /** For `lang`, fonts and what listens to the page. */
  readonly tag: string
  /** How it writes dates and numbers. */
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
}

const languages = {
  en: { name: 'English', tag: 'en', locale: 'en-GB', direction: 'ltr' },
  zh: { name: '简体中文', tag: 'zh-Hans', locale: 'zh-CN', direction: 'ltr' }
} as const satisfies Record<string, Language>

export type LanguageName = keyof typeof languages
/** `system`: the first language of the browser that the app speaks. */
export type LanguageChoice = 'system' | LanguageName

export const languageNames = Object.keys(languages) as LanguageName[]

/** The language the app is shown in. English until `setWords` was told otherwise. */
export let language: LanguageName = 'en'

/** What the language is called in itself. */
export function languageName(name: LanguageName): string {
  return languages[name].name
}

export function directionOf(name: LanguageName): 'ltr' | 'rtl' {
  return languages[name].direction
}

export function tagOf(name: LanguageName): string {
  return languages[name].tag
}

/** The language for somebody who chose this, in a browser set to these languages, the most wanted first. */
export function languageFor(chosen: string | null, wanted: readonly string[]): LanguageName {
  const own = languageNames.find(name => name === chosen)
  if (own) return own
  for (const tag of wanted) {
    const known = languageNames.find(name => tag.toLowerCase().split('-')[0] === name)
    if (known) return known
  }
  return 'en'
}

/** For `Intl`. */
export function locale(): string {
  return languages[language].locale
}

/** The shape of words, whatever they say: the same names, and functions that take the same. */
export type Translated<English> = English extends string
  ? string
  : English extends (...about: infer About) => infer Sentence
    ? (...about: About) => Translated<Sentence>
    : { readonly [Name in keyof English]: Translated<English[Name]> }

/** A file of words, as `AllWords` lists them. */
export type WordFile =
  | 'alerts'
  | 'app'
  | 'compose'
  | 'decide'
  | 'home'
  | 'joining'
  | 'lists'
  | 'machine'
  | 'notifications'
  | 'outcomes'
  | 'people'
  | 'session'
  | 'settings'
  | 'start'
  | 'time'
  | 'work'

let loaded: { readonly [File in WordFile]?: object } = {}

/** What a language says, before any of these files of words is loaded: each looks once. */
export function setWords(name: LanguageName, words: { readonly [File in WordFile]?: object }): void {
  language = name
  loaded = { ...loaded, ...words }
}

/** The words of the reader; English, which is always there, when theirs are not. */
export function inLanguage<English>(file: WordFile, english: English): Translated<English> {
  // What `setWords` is given has for each file the words that `AllWords` declares for it.
  return (loaded[file] ?? english) as Translated<English>
}
