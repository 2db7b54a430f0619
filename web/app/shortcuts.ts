import { flip, isOn } from '../core/preferences.ts'
import { go, goBack, route } from '../core/router.ts'
import type { Route } from '../core/routes.ts'
import { selected, stopSelecting, toggle } from '../home/selection.ts'
import { live } from '../model/account/account.ts'
import { groups } from '../model/groups.ts'
import { isCovered } from '../ui/behavior/layers.ts'

/** A layer that a shortcut opens over the screen. */
export type KeyLayer = 'palette' | 'keys'

/** How long to wait for the second key of a sequence. */
const secondWithinMs = 1_500

/** Keyboard shortcuts of the app. Ignored while someone types, a sheet is open, or a modifier is held. Returns a function that removes them. */
export function startKeys(open: (layer: KeyLayer) => void): () => void {
  let wentAt = 0
  const follow = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    const key = event.key.toLowerCase()
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key === 'k') {
      event.preventDefault()
      if (!isCovered()) open('palette')
      return
    }
    if (event.altKey && event.code === 'KeyS' && !isCovered() && focusOn('.dock .scopes :checked')) return event.preventDefault()
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target) || isCovered() || !isOn('singleKeys')) return
    const isSecond = Date.now() - wentAt < secondWithinMs
    wentAt = 0
    const goTo = isSecond ? seconds[key] : undefined
    if (goTo) {
      event.preventDefault()
      return go(goTo)
    }
    if (key === 'g') {
      wentAt = Date.now()
      return
    }
    const act = event.key === '?' ? () => open('keys') : singles[key]
    if (act?.() === undefined) return
    event.preventDefault()
  }
  addEventListener('keydown', follow)
  return () => removeEventListener('keydown', follow)
}

const seconds: Record<string, Route> = { h: { name: 'home' }, m: { name: 'machines' }, s: { name: 'settings' } }

// Each returns true if it did something; undefined leaves the key to other handlers.
const singles: Record<string, () => true | undefined> = {
  j: () => click('.needs-next:enabled') ?? move(1),
  k: () => click('.needs-before:enabled') ?? move(-1),
  n: () => done(() => go({ name: 'new' })),
  '/': () => done(() => go({ name: 'search' })),
  c: () => click('.foot-line .line-w') ?? focusOn('.composer textarea'),
  '.': () => click('.foot-line .stop') ?? click('.strip .stop'),
  // Focuses the button that allows, or sends an answer; pressing it takes another key.
  a: () => focusOn('.dock .dock-f:not(.deny) .acts > :last-child:enabled'),
  r: () => click('.dock .deny-b:enabled'),
  d: () => {
    const at = route.peek()
    return at.name === 'session' && at.view.length === 0 ? done(() => go({ name: 'session', id: at.id, view: ['changes'] })) : undefined
  },
  '[': () => done(() => flip('listFolded')),
  ']': () => done(() => flip('sideFolded')),
  x: () => {
    const id = sessionHere()
    return id === undefined ? undefined : done(() => toggle(id))
  },
  e: () => {
    const link = live.peek()
    const away = new Set(groups.peek().archived.map(({ id }) => id))
    const ids = [...(selected.peek() ?? [sessionHere()])].filter((id): id is string => id !== undefined && !away.has(id))
    if (ids.length === 0) return undefined
    return done(() => {
      stopSelecting()
      // Loaded on demand, so that Home does not wait for it.
      void import('../model/session/actions.ts').then(({ archive }) => archive(link, ids))
    })
  },
  escape: () => {
    if (selected.peek() !== undefined) return done(stopSelecting)
    const at = route.peek()
    return at.name === 'search' || at.name === 'archive' ? done(() => goBack()) : undefined
  }
}

function done(act: () => void): true {
  act()
  return true
}

/** Moves the focus to the next row of a list of sessions. */
function move(by: 1 | -1): true | undefined {
  const rows = [...document.querySelectorAll<HTMLElement>('.ask h3 a, a.row, a.hit')].filter(row => row.checkVisibility())
  if (rows.length === 0) return undefined
  const at = rows.findIndex(row => row.matches(':focus'))
  const current = at < 0 ? rows.findIndex(row => row.getAttribute('aria-current') === 'page') : at
  const next = rows[current < 0 && by < 0 ? rows.length - 1 : Math.min(rows.length - 1, Math.max(0, current + by))]
  return done(() => {
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  })
}

/** The session of the focused row, otherwise the open one. */
function sessionHere(): string | undefined {
  const row = document.activeElement?.closest<HTMLElement>('[data-session]')
  const at = route.peek()
  return row?.dataset['session'] ?? (at.name === 'session' ? at.id : undefined)
}

function focusOn(what: string): true | undefined {
  const element = document.querySelector<HTMLElement>(what)
  return element ? done(() => element.focus()) : undefined
}

function click(what: string): true | undefined {
  const element = document.querySelector<HTMLElement>(what)
  return element ? done(() => element.click()) : undefined
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]')
}
