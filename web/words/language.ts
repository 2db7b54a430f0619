import { type FirstWords, type LaterWords, speak } from './spoken.ts'

/** A language of the app: its files are loaded only for who reads it. */
interface Language {
  /** In itself: who looks for it cannot read the others. */
  readonly name: string
  /** For `lang`, fonts and what listens to the page. */
  readonly tag: string
  /** How it writes dates and numbers. */
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
  /** Absent for English, which every other one falls back to. */
  load?(): Promise<FirstWords>
  loadLater?(): Promise<LaterWords>
}

const languages = {
  en: { name: 'English', tag: 'en', locale: 'en-GB', direction: 'ltr' },
  zh: {
    name: '简体中文',
    tag: 'zh-Hans',
    locale: 'zh-CN',
    direction: 'ltr',
    load: async () => (await import('./zh/index.ts')).chinese,
    loadLater: async () => {
      const [{ laterChinese }, { joining }, { notifications }] = await Promise.all([
        import('./zh/later.ts'),
        import('./zh/joining.ts'),
        import('./zh/notifications.ts')
      ])
      return { ...laterChinese, joining, notifications }
    }
  }
} as const satisfies Record<string, Language>

export type LanguageName = keyof typeof languages
/** `system`: the first language of the browser that the app speaks. */
export type LanguageChoice = 'system' | LanguageName

export const languageNames = Object.keys(languages) as LanguageName[]

/** The language the app is shown in. English until `speakAs` was told otherwise. */
export let language: LanguageName = 'en'

/** What the language is called in itself. */
export function nameOf(name: LanguageName): string {
  return languages[name].name
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

/** Before anything is drawn, and before any other file of words is loaded. Without its file the app speaks English. */
export async function speakAs(name: LanguageName, { documentElement }: Document): Promise<void> {
  const { tag, direction, load }: Language = languages[name]
  documentElement.lang = tag
  documentElement.dir = direction
  if (!load) return
  try {
    speak(await load())
    language = name
  } catch (error) {
    // A first visit that lost its network half way: all is said, in a language that is here.
    console.error(error)
    documentElement.lang = languages.en.tag
    documentElement.dir = languages.en.direction
  }
}

/** Before a screen is loaded that was not there from the beginning. Rejects when its words cannot be fetched; the next one tries again. */
export async function speakLater(): Promise<void> {
  const { loadLater }: Language = languages[language]
  if (!loadLater) return
  later ??= loadLater().then(speak)
  try {
    await later
  } catch (error) {
    later = undefined
    throw error
  }
}

let later: Promise<void> | undefined

/** For `Intl`. */
export function locale(): string {
  return languages[language].locale
}
