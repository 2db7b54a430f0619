import { type ReadonlySignal, signal } from '@preact/signals'
import type { LanguageChoice } from '../words/language.ts'
import { onTabs, tellTabs } from './tabs.ts'

export type Theme = 'system' | 'light' | 'dark'

/** How long a session may be idle before it is archived automatically; `never` disables that. */
export type QuietDays = 7 | 30 | 'never'

export const quietChoices = [7, 30, 'never'] as const satisfies QuietDays[]
export type Confirming = 'hold' | 'taps'

/** The switches of this device with their defaults. */
const switches = {
  /** Long lines of code wrap instead of scrolling sideways. */
  wrap: false,
  /** If there is room for two columns, changes are shown side by side. */
  sideBySide: true,
  /** Steps are single lines: changes and failures stay collapsed. */
  compact: false,
  /** New messages of a session are announced to screen readers. */
  announces: true,
  /** On a keyboard, Enter sends; if off, it inserts a new line. */
  enterSends: true,
  /** Loads only what is requested. By default it follows the browser's setting, if there is one. */
  lowData: false,
  /** Groups the list of sessions by folder instead of by state. */
  byFolder: false,
  /** Enables shortcuts without Ctrl or Cmd. */
  singleKeys: true,
  /** The side panes are collapsed. */
  listFolded: false,
  sideFolded: false
} as const satisfies Record<string, boolean>

export type SwitchName = keyof typeof switches

const themeNow = signal<Theme>('system')
const confirmingNow = signal<Confirming>('hold')
const quietDaysNow = signal<QuietDays>(7)
const switchesNow = signal<Readonly<Record<SwitchName, boolean>>>(switches)

/** Appearance and confirmation preferences of this device. Not secret: stored where they can be read before the first paint. */
export const theme: ReadonlySignal<Theme> = themeNow
export const confirming: ReadonlySignal<Confirming> = confirmingNow
export const quietDays: ReadonlySignal<QuietDays> = quietDaysNow

export function isOn(name: SwitchName): boolean {
  return switchesNow.value[name]
}

/** Call before the first paint. */
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

/** The chosen language; null to follow the browser's languages. */
export function chosenLanguage(): string | null {
  return localStorage.getItem('afield-language')
}

/** Reloads the app in it. Other tabs follow when they are reopened, since someone may be typing there. */
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
