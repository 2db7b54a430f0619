import { type ReadonlySignal, signal } from '@preact/signals'
import { stateNow } from '../ui/behavior/layers.ts'
import { parentOf, pathOf, type Route, readPath } from './routes.ts'

const routeNow = signal<Route>({ name: 'home' })
const arrivalNow = signal<Arrival | undefined>(undefined)

/** The current route. */
export const route: ReadonlySignal<Route> = routeNow

/**
 * The fragment of the address that was opened. It may be a secret (a setup code, the key of a terminal), so it lives only here
 * and is removed from the address and from history before anything is drawn. `href` is the whole address, for reading links.
 */
export const arrival: ReadonlySignal<Arrival | undefined> = arrivalNow

interface Arrival {
  href: string
  fragment: URLSearchParams
}

export function startRouter(): void {
  addEventListener('popstate', arrive)
  addEventListener('hashchange', arrive)
  document.addEventListener('click', followLink)
  arrive()
}

export function go(to: Route, how: 'push' | 'replace' = 'push'): void {
  const path = pathOf(to)
  const here = pathOf(route.peek())
  if (how === 'replace') history.replaceState(history.state, '', path)
  else if (path !== here) history.pushState({ from: here }, '', path)
  setRoute(to)
}

/** Goes back if the previous screen is the parent, otherwise replaces this screen with its parent. */
export function goBack(to: Route = parentOf(route.peek())): void {
  if (cameFrom() === pathOf(to)) history.back()
  else go(to, 'replace')
}

/** As if the address had been opened: for scanned or pasted links, in any form, even if they are not addresses of this app. */
export function arriveWith(href: string): void {
  const fragment = URL.canParse(href) ? new URL(href).hash.slice(1) : ''
  arrivalNow.value = { href, fragment: new URLSearchParams(fragment) }
  go({ name: 'pair' }, 'replace')
}

/** True while a pairing link waits for an account: it was opened on a device that had none. */
export function isPairingWaiting(): boolean {
  const waiting = arrivalNow.value?.href
  return waiting !== undefined && URL.canParse(waiting) && readPath(new URL(waiting).pathname).name === 'pair'
}

/** The destination of a device that now has its account: the link it was opened with, or `other`. */
export function goOn(other: Route = { name: 'home' }): void {
  go(isPairingWaiting() ? { name: 'pair' } : other, 'replace')
}

/** Drops the fragment once it has been used. */
export function forgetArrival(): void {
  arrivalNow.value = undefined
}

/** Like `go`, but from a layer: replaces the screen below, so that Back leads to neither. */
export function goFromLayer(to: Route): void {
  addEventListener('popstate', () => go(to, 'replace'), { once: true })
  history.back()
}

function arrive(): void {
  if (location.hash.length > 1) {
    arrivalNow.value = { href: location.href, fragment: new URLSearchParams(location.hash.slice(1)) }
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  setRoute(readPath(location.pathname, location.search))
}

// An equal route keeps its identity: closing a sheet must not redraw the screen below.
function setRoute(to: Route): void {
  if (JSON.stringify(to) !== JSON.stringify(route.peek())) routeNow.value = to
}

function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download') || link.hash !== '') return
  event.preventDefault()
  if (link.dataset['back'] === undefined) go(readPath(link.pathname, link.search))
  else goBack(readPath(link.pathname, link.search))
}

function cameFrom(): string | undefined {
  const { from } = stateNow()
  return typeof from === 'string' ? from : undefined
}
