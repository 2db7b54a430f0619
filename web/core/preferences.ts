import { type ReadonlySignal, signal } from '@preact/signals'
import type { LanguageChoice } from '../words/language.ts'
import { onTabs, tellTabs } from './tabs.ts'

export type Theme = 'system' | 'light' | 'dark'

/** How long a session may be quiet before it goes to the archive by itself; `never` means that none does. */
export type QuietDays = 7 | 30 | 'never'

export const quietChoices = [7, 30, 'never'] as const satisfies QuietDays[]
export type Confirming = 'hold' | 'taps'

/** What is on or off on this device, and what it is for who never said. */
const switches = {
  /** Long lines of code go on below instead of sideways. */
  wrap: false,
  /** Where there is room for two columns, changes stand beside what was there. */
  sideBySide: true,
  /** Steps are lines only: changes and failures stay folded. */
  compact: false,
  /** What comes into a session is read out to who does not see it. */
  announces: true,
  /** With a keyboard Enter sends; off, it begins a new line. */
  enterSends: true,
  /** Fetches only what is asked for. Who never said has told the browser, where it has such a setting. */
  lowData: false,
  /** The list of sessions by folder, instead of by what they do. */
  byFolder: false,
  /** Keys without Ctrl or Cmd do something. */
  singleKeys: true,
  /** The panes beside the main one are folded away. */
  listFolded: false,
  sideFolded: false
} as const satisfies Record<string, boolean>

export type SwitchName = keyof typeof switches

const themeNow = signal<Theme>('system')
const confirmingNow = signal<Confirming>('hold')
const quietDaysNow = signal<QuietDays>(7)
const switchesNow = signal<Readonly<Record<SwitchName, boolean>>>(switches)

/** How this device looks, and how its owner confirms. Nothing secret: kept where it can be read before the first paint. */
export const theme: ReadonlySignal<Theme> = themeNow
export const confirming: ReadonlySignal<Confirming> = confirmingNow
export const quietDays: ReadonlySignal<QuietDays> = quietDaysNow

export function isOn(name: SwitchName): boolean {
  return switchesNow.value[name]
}

/** Before the first paint. */
export function startPreferences(): void {
  read()
  onTabs(message => {
    if (message.type === 'appearance') read()
  })
}

export function chooseTheme(chosen: Theme): void {
  keep('afield-theme', chosen)
}

export function chooseConfirming(chosen: Confirming): void {
  keep('afield-confirming', chosen)
}

export function chooseQuietDays(chosen: QuietDays): void {
  keep('afield-quiet-days', String(chosen))
}

export function flip(name: SwitchName): void {
  keep(`afield-${name}`, String(!switchesNow.peek()[name]))
}

/** What its owner chose to read; null when the browser's languages decide. */
export function chosenLanguage(): string | null {
  return localStorage.getItem('afield-language')
}

/** Draws everything anew in it. Other tabs follow when they are opened again: somebody may be typing there. */
export function chooseLanguage(chosen: LanguageChoice): void {
  if (chosen === 'system') localStorage.removeItem('afield-language')
  else localStorage.setItem('afield-language', chosen)
  location.reload()
}

function keep(name: string, value: string): void {
  localStorage.setItem(name, value)
  read()
  tellTabs({ type: 'appearance' })
}

function read(): void {
  const kept = localStorage.getItem('afield-theme')
  themeNow.value = kept === 'light' || kept === 'dark' ? kept : 'system'
  confirmingNow.value = localStorage.getItem('afield-confirming') === 'taps' ? 'taps' : 'hold'
  quietDaysNow.value = quietChoices.find(days => String(days) === localStorage.getItem('afield-quiet-days')) ?? 7
  switchesNow.value = {
    wrap: readSwitch('wrap'),
    sideBySide: readSwitch('sideBySide'),
    compact: readSwitch('compact'),
    announces: readSwitch('announces'),
    enterSends: readSwitch('enterSends'),
    lowData: readSwitch('lowData', savesData()),
    byFolder: readSwitch('byFolder'),
    singleKeys: readSwitch('singleKeys'),
    listFolded: readSwitch('listFolded'),
    sideFolded: readSwitch('sideFolded')
  }
  const { dataset } = document.documentElement
  if (themeNow.value === 'system') delete dataset['theme']
  else dataset['theme'] = themeNow.value
  dataset['list'] = isOn('listFolded') ? 'folded' : 'open'
  dataset['side'] = isOn('sideFolded') ? 'folded' : 'open'
}

function readSwitch(name: SwitchName, unsaid: boolean = switches[name]): boolean {
  const kept = localStorage.getItem(`afield-${name}`)
  return kept === null ? unsaid : kept === 'true'
}

function savesData(): boolean {
  const link = 'connection' in navigator ? navigator.connection : undefined
  return typeof link === 'object' && link !== null && 'saveData' in link && link.saveData === true
}
