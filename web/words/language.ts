/** A language of the app. */
interface Language {
  /** In the language itself, so that its readers recognise it. */
  readonly name: string
  /** For the `lang` attribute, which selects fonts and screen reader voices. */
  readonly tag: string
  /** For dates and numbers. */
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
}

const languages = {
  en: { name: 'English', tag: 'en', locale: 'en-GB', direction: 'ltr' },
  zh: { name: '简体中文', tag: 'zh-Hans', locale: 'zh-CN', direction: 'ltr' }
} as const satisfies Record<string, Language>

export type LanguageName = keyof typeof languages
/** `system`: the first supported language of the browser. */
export type LanguageChoice = 'system' | LanguageName

export const languageNames = Object.keys(languages) as LanguageName[]

/** The current language; English until `setWords` changes it. */
export let language: LanguageName = 'en'

/** The name of a language, in itself. */
export function languageName(name: LanguageName): string {
  return languages[name].name
}

export function directionOf(name: LanguageName): 'ltr' | 'rtl' {
  return languages[name].direction
}

export function tagOf(name: LanguageName): string {
  return languages[name].tag
}

/** The language for a choice (null: none) and the languages of the browser, most preferred first. */
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

/** The shape of a word file in any language: the same names, and functions with the same parameters. */
export type Translated<English> = English extends string
  ? string
  : English extends (...about: infer About) => infer Sentence
    ? (...about: About) => Translated<Sentence>
    : { readonly [Name in keyof English]: Translated<English[Name]> }

/** The name of a word file, as listed in `AllWords`. */
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

/** Sets the words of a language. Call before these word files are loaded: each reads its words once. */
export function setWords(name: LanguageName, words: { readonly [File in WordFile]?: object }): void {
  language = name
  loaded = { ...loaded, ...words }
}

/** The words in the current language, otherwise in English, which is always loaded. */
export function inLanguage<English>(file: WordFile, english: English): Translated<English> {
  // `setWords` gets for each file the words that `AllWords` declares for it.
  return (loaded[file] ?? english) as Translated<English>
}
