import type { AppWords } from './app.ts'
import type { ComposeWords } from './compose.ts'
import type { DecideWords } from './decide.ts'
import type { JoiningWords } from './joining.ts'
import type { ListWords } from './lists.ts'
import type { MachineWords } from './machine.ts'
import type { NotificationWords } from './notifications.ts'
import type { PeopleWords } from './people.ts'
import type { RingingWords } from './ringing.ts'
import type { SessionWords } from './session.ts'
import type { SettingsWords } from './settings.ts'
import type { StartWords } from './start.ts'
import type { TimeWords } from './time.ts'
import type { WorkWords } from './work.ts'

/** Every word of the app in one language. A language that lacks a word, or a whole file, does not compile. */
export interface Spoken {
  readonly app: AppWords
  readonly compose: ComposeWords
  readonly decide: DecideWords
  readonly joining: JoiningWords
  readonly lists: ListWords
  readonly machine: MachineWords
  readonly notifications: NotificationWords
  readonly people: PeopleWords
  readonly ringing: RingingWords
  readonly session: SessionWords
  readonly settings: SettingsWords
  readonly start: StartWords
  readonly time: TimeWords
  readonly work: WorkWords
}

/** The shape of words, whatever they say: the same names, and functions that take the same. */
export type Said<English> = English extends string
  ? string
  : English extends (...about: infer About) => infer Sentence
    ? (...about: About) => Said<Sentence>
    : { readonly [Name in keyof English]: Said<English[Name]> }

/** What the screens say that are there from the beginning; the others bring their own. */
export type FirstWords = Pick<Spoken, 'app' | 'decide' | 'lists' | 'settings' | 'start' | 'time'>
export type LaterWords = Omit<Spoken, keyof FirstWords>

let spoken: Partial<Spoken> = {}

/** Before any of these files of words is loaded: each looks once. */
export function speak(words: FirstWords | LaterWords): void {
  spoken = { ...spoken, ...words }
}

/** The words of the reader; English, which is always there, when theirs are not. */
export function inLanguage<File extends keyof Spoken>(file: File, english: Spoken[File]): Spoken[File] {
  return spoken[file] ?? english
}
