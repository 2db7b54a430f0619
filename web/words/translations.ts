import type { AlertWords } from './alerts.ts'
import type { AppWords } from './app.ts'
import type { ComposeWords } from './compose.ts'
import type { DecideWords } from './decide.ts'
import type { HomeWords } from './home.ts'
import type { JoiningWords } from './joining.ts'
import { directionOf, type LanguageName, language, setWords, tagOf, type WordFile } from './language.ts'
import type { ListWords } from './lists.ts'
import type { MachineWords } from './machine.ts'
import type { NotificationWords } from './notifications.ts'
import type { OutcomeWords } from './outcomes.ts'
import type { PeopleWords } from './people.ts'
import type { SessionWords } from './session.ts'
import type { SettingsWords } from './settings.ts'
import type { StartWords } from './start.ts'
import type { TimeWords } from './time.ts'
import type { WorkWords } from './work.ts'

/** Every word of the app in one language. A language that lacks a word, or a whole file, does not compile. */
interface AllWords extends Record<WordFile, object> {
  readonly alerts: AlertWords
  readonly app: AppWords
  readonly compose: ComposeWords
  readonly decide: DecideWords
  readonly home: HomeWords
  readonly joining: JoiningWords
  readonly lists: ListWords
  readonly machine: MachineWords
  readonly notifications: NotificationWords
  readonly outcomes: OutcomeWords
  readonly people: PeopleWords
  readonly session: SessionWords
  readonly settings: SettingsWords
  readonly start: StartWords
  readonly time: TimeWords
  readonly work: WorkWords
}

/** The words needed from the start; other screens load theirs. */
type FirstWords = Pick<AllWords, 'app' | 'decide' | 'home' | 'lists' | 'start' | 'time'>
type LaterWords = Omit<AllWords, keyof FirstWords>

/** Its files are loaded only for readers of this language. */
interface Translation {
  load(): Promise<FirstWords>
  loadLater(): Promise<LaterWords>
}

/** English has no entry: it is the fallback of every other language. */
const translations: { readonly [Name in LanguageName]?: Translation } = {
  zh: {
    load: async () => (await import('./zh/index.ts')).chinese,
    loadLater: async () => {
      const [{ laterChinese }, { joining }, { notifications }, { settings }] = await Promise.all([
        import('./zh/later.ts'),
        import('./zh/joining.ts'),
        import('./zh/notifications.ts'),
        import('./zh/settings.ts')
      ])
      return { ...laterChinese, joining, notifications, settings }
    }
  }
}

/** Call before anything is drawn and before other word files are loaded. If its files cannot be loaded, the app stays in English. */
export async function loadLanguage(name: LanguageName, { documentElement }: Document): Promise<void> {
  documentElement.lang = tagOf(name)
  documentElement.dir = directionOf(name)
  const translation = translations[name]
  if (!translation) return
  try {
    setWords(name, await translation.load())
  } catch (error) {
    // The network was lost during a first visit: everything is shown in English, which is already loaded.
    console.error(error)
    documentElement.lang = tagOf('en')
    documentElement.dir = directionOf('en')
  }
}

/** Call before a screen that is loaded later. Rejects if the words cannot be fetched; the next call tries again. */
export async function loadLaterWords(): Promise<void> {
  const name = language
  const translation = translations[name]
  if (!translation) return
  later ??= translation.loadLater().then(words => setWords(name, words))
  try {
    await later
  } catch (error) {
    later = undefined
    throw error
  }
}

let later: Promise<void> | undefined
