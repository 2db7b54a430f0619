import { type ReadonlySignal, signal } from '@preact/signals'
import { onTabs, tellTabs } from './tabs.ts'

export type Theme = 'system' | 'light' | 'dark'
export type Confirming = 'hold' | 'taps'

const themeNow = signal<Theme>('system')
const confirmingNow = signal<Confirming>('hold')

/** How this device looks, and how its owner confirms. Nothing secret: kept where it can be read before the first paint. */
export const theme: ReadonlySignal<Theme> = themeNow
export const confirming: ReadonlySignal<Confirming> = confirmingNow

/** Before the first paint. */
export function startPreferences(): void {
  read()
  onTabs(message => {
    if (message.type === 'appearance') read()
  })
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem('afield-theme', chosen)
  read()
  tellTabs({ type: 'appearance' })
}

export function chooseConfirming(chosen: Confirming): void {
  localStorage.setItem('afield-confirming', chosen)
  read()
  tellTabs({ type: 'appearance' })
}

function read(): void {
  const kept = localStorage.getItem('afield-theme')
  themeNow.value = kept === 'light' || kept === 'dark' ? kept : 'system'
  confirmingNow.value = localStorage.getItem('afield-confirming') === 'taps' ? 'taps' : 'hold'
  const { dataset } = document.documentElement
  if (themeNow.value === 'system') delete dataset['theme']
  else dataset['theme'] = themeNow.value
}
