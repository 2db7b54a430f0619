import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isLocked } from '../core/lock.ts'
import { isOn } from '../core/preferences.ts'
import { arrival, go, goOn, route } from '../core/router.ts'
import { pathOf, type Route } from '../core/routes.ts'
import { HomeScreen, IdleScreen } from '../home/home.tsx'
import { InsecureScreen, NoStorageScreen, WelcomeScreen } from '../join/welcome.tsx'
import { account, live } from '../model/account/account.ts'
import { shownAlert } from '../model/notifications/alerts.ts'
import { onUse } from '../ui/behavior/on-use.ts'
import { isWide } from '../ui/behavior/width.ts'
import { IconSprite } from '../ui/icons/icon.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { UndoBar } from '../ui/undo-bar.tsx'
import { words } from '../words/index.ts'
import { LockedScreen } from './locked.tsx'
import { Nav } from './nav.tsx'
import { NotFoundScreen } from './not-found.tsx'
import { type KeyLayer, startKeys } from './shortcuts.ts'
import { Strip } from './strip.tsx'

export function App() {
  return (
    <>
      <IconSprite />
      <Frame />
      <Toasts />
      <UndoBar />
      {shownAlert.value && <AlertHere />}
    </>
  )
}

function AlertHere() {
  const loaded = alertBar.get()
  return loaded ? <loaded.AlertBar /> : null
}

const alertBar = onUse(() => import('./alert-bar.tsx'))

function Frame() {
  const here = account.value
  if (!isSecureContext) return <Full screen={<InsecureScreen />} />
  if (here.type === 'opening') return null
  if (here.type === 'no-storage') return <Full screen={<NoStorageScreen />} />
  if (here.type !== 'here') return <Full screen={flowWithoutAccount(route.value)} />
  const isCovered = isLocked.value
  return (
    <>
      {isCovered && <Full screen={<LockedScreen />} />}
      {/* Stays as it is under the lock: what somebody was writing is there when it is opened. */}
      <div class="cover" hidden={isCovered} inert={isCovered}>
        {isFlow(route.value) ? <Full screen={flowWithAccount(route.value)} /> : <Panes />}
      </div>
    </>
  )
}

/** A full screen without navigation: first run, linking. */
function Full({ screen }: { screen: ComponentChildren }) {
  return (
    <div class="app is-full">
      <div class="strip-area">
        <Strip />
      </div>
      <Main>{screen}</Main>
    </div>
  )
}

function Panes() {
  const at = route.value
  const wide = isWide.value
  const [layer, open] = useState<KeyLayer>()
  useEffect(() => startKeys(open), [])
  useIndexing()
  const hasNav = wide || !['session', 'new', 'needs-you'].includes(at.name)
  return (
    <div class="app">
      <button class="skip" type="button" onClick={skip}>
        {words.skip}
      </button>
      <div class="strip-area">
        <Strip />
      </div>
      {hasNav && <Nav />}
      {wide && !isOn('listFolded') && (
        <section class="list-pane" aria-label={words.nav.home}>
          <HomeScreen />
        </section>
      )}
      <Main>{paneOf(at, wide)}</Main>
      {layer === 'palette' && (
        <Lazy load={() => import('./palette.tsx')} show={({ Palette }) => <Palette onClose={() => open(undefined)} />} />
      )}
      {layer === 'keys' && (
        <Lazy load={() => import('./shortcuts-sheet.tsx')} show={({ KeySheet }) => <KeySheet onClose={() => open(undefined)} />} />
      )}
    </div>
  )
}

const settleMs = 10_000

/** Indexes messages for search once the app is idle, except in low-data mode. */
function useIndexing(): void {
  const link = live.value
  const isOff = isOn('lowData')
  useEffect(() => {
    if (!link || isOff) return
    const timer = setTimeout(() => void import('../home/search/search-index.ts').then(({ startIndexing }) => startIndexing(link)), settleMs)
    return () => clearTimeout(timer)
  }, [link, isOff])
}

// The heading of a new screen receives focus, so that screen readers announce it; not on the first screen, which the browser announces.
function Main({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const path = pathOf(route.value)
  const isFirst = useRef(true)
  useEffect(() => {
    const isMoved = !isFirst.current
    isFirst.current = false
    return whenHeaded(main.current, heading => {
      document.title = titleOf(heading)
      if (isMoved) heading.focus({ preventScroll: true })
    })
  }, [path])
  return (
    <main class="main" id="main" ref={main} tabIndex={-1}>
      {children}
    </main>
  )
}

function paneOf(at: Route, wide: boolean): ComponentChildren {
  switch (at.name) {
    case 'home':
      return wide && !isOn('listFolded') ? <IdleScreen /> : <HomeScreen />
    case 'session':
      return (
        <Lazy
          key={`session ${at.id}`}
          load={() => import('../session/session.tsx')}
          show={({ SessionScreen }) => <SessionScreen id={at.id} view={at.view} />}
        />
      )
    case 'needs-you':
      return (
        <Lazy
          key="needs-you"
          load={() => import('../home/needs-you.tsx')}
          show={({ NeedsYouScreen }) => <NeedsYouScreen request={at.request} />}
        />
      )
    case 'new':
      return <Lazy key="new" load={() => import('../new/new.tsx')} show={({ NewScreen }) => <NewScreen at={at} />} />
    case 'search':
      return (
        <Lazy
          key={`search ${at.in}`}
          load={() => import('../home/search/search.tsx')}
          show={({ SearchScreen }) => <SearchScreen asked={at.q ?? ''} session={at.in} />}
        />
      )
    case 'archive':
      return <Lazy key="archive" load={() => import('../home/archive.tsx')} show={({ ArchiveScreen }) => <ArchiveScreen />} />
    case 'machines':
      return <Lazy key="machines" load={() => import('../machines/machines.tsx')} show={({ MachinesScreen }) => <MachinesScreen />} />
    case 'machine':
      return (
        <Lazy
          key={`machine ${at.id}`}
          load={() => import('../machines/machine.tsx')}
          show={({ MachineScreen }) => <MachineScreen id={at.id} />}
        />
      )
    case 'settings':
      return (
        <Lazy
          key="settings"
          load={() => import('../settings/settings.tsx')}
          show={({ SettingsScreen }) => <SettingsScreen page={at.page} item={at.item} />}
        />
      )
    default:
      return <NotFoundScreen />
  }
}

function isFlow(at: Route): boolean {
  return ['start', 'start-key', 'start-check', 'scan', 'pair', 'restore', 'link', 'welcome'].includes(at.name)
}

function flowWithAccount(at: Route): ComponentChildren {
  switch (at.name) {
    case 'start-key':
      return <Lazy key="key" load={() => import('../keys/key.tsx')} show={({ KeyScreen }) => <KeyScreen />} />
    case 'start-check':
      return <Lazy key="check" load={() => import('../keys/check.tsx')} show={({ CheckScreen }) => <CheckScreen />} />
    case 'scan':
      return <Lazy key="scan" load={() => import('../join/scan.tsx')} show={({ ScanScreen }) => <ScanScreen />} />
    case 'pair':
      return <Lazy key="pair" load={() => import('../join/pair.tsx')} show={({ PairScreen }) => <PairScreen />} />
    case 'restore':
    case 'link':
      return <Elsewhere go={goOn} />
    default:
      return <Elsewhere go={() => go({ name: 'home' }, 'replace')} />
  }
}

function flowWithoutAccount(at: Route): ComponentChildren {
  switch (at.name) {
    case 'start':
    case 'start-key':
    case 'start-check':
      return create()
    case 'restore':
    case 'link':
      // The existing key must not be overwritten.
      if (account.peek().type === 'unlinked') return <WelcomeScreen />
      return at.name === 'link' ? link() : restore()
    default:
      // Setup links printed by the server and invitations from its owner lead straight to creating an account.
      return arrival.value?.fragment.has('setup') || arrival.value?.fragment.has('invite') ? create() : <WelcomeScreen />
  }
}

function create(): ComponentChildren {
  return <Lazy key="create" load={() => import('../join/create.tsx')} show={({ CreateScreen }) => <CreateScreen />} />
}

function restore(): ComponentChildren {
  return <Lazy key="restore" load={() => import('../join/restore.tsx')} show={({ RestoreScreen }) => <RestoreScreen />} />
}

function link(): ComponentChildren {
  return <Lazy key="link" load={() => import('../join/link.tsx')} show={({ LinkScreen }) => <LinkScreen />} />
}

function Elsewhere({ go }: { go(): void }) {
  useEffect(go, [])
  return null
}

/** Calls back once the screen has its heading, whose code may have to load first. Not if the focus has moved into the screen meanwhile. */
function whenHeaded(main: HTMLElement | null, then: (heading: HTMLElement) => void): () => void {
  const before = document.activeElement
  const look = () => {
    const heading = [...(main?.querySelectorAll('h1') ?? [])].find(each => each.closest('[inert]') === null)
    const { activeElement: now } = document
    const isElsewhere = now !== before && now !== null && now !== main && main?.contains(now) === true
    if (heading !== undefined) {
      watch.disconnect()
      if (isElsewhere) document.title = titleOf(heading)
      else then(heading)
    }
  }
  const watch = new MutationObserver(look)
  if (main) watch.observe(main, { childList: true, subtree: true, attributeFilter: ['inert'] })
  document.title = words.app
  look()
  return () => watch.disconnect()
}

function titleOf({ textContent }: HTMLElement): string {
  return textContent ? `${textContent} · ${words.app}` : words.app
}

function skip(): void {
  document.getElementById('main')?.focus()
}
