import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { IconSprite } from './icons/icon.tsx'
import { Nav } from './parts/nav.tsx'
import { Strip } from './parts/strip.tsx'
import { Toasts } from './parts/toast.tsx'
import { arrival, go, route } from './router.ts'
import { pathOf, type Route } from './routes.ts'
import { CreateScreen } from './screens/create.tsx'
import { HomeScreen, IdleScreen } from './screens/home.tsx'
import { CheckScreen, KeyScreen } from './screens/key.tsx'
import { Lazy } from './screens/lazy.tsx'
import { RestoreScreen } from './screens/restore.tsx'
import { UnknownScreen } from './screens/unknown.tsx'
import { InsecureScreen, NoStorageScreen, WelcomeScreen } from './screens/welcome.tsx'
import { account } from './state/account.ts'
import { isWide } from './state/width.ts'
import { words } from './words/index.ts'

export function App() {
  return (
    <>
      <IconSprite />
      <Frame />
      <Toasts />
    </>
  )
}

function Frame() {
  const here = account.value
  if (!isSecureContext) return <Full screen={<InsecureScreen />} />
  if (here.type === 'opening') return null
  if (here.type === 'no-storage') return <Full screen={<NoStorageScreen />} />
  if (here.type === 'here' && !isFlow(route.value)) return <Panes />
  return <Full screen={here.type === 'here' ? flowWithAccount(route.value) : flowWithoutAccount(route.value)} />
}

/** A screen that stands alone: first run, linking. */
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
  const hasNav = wide || (at.name !== 'session' && at.name !== 'new')
  return (
    <div class="app">
      <button class="skip" type="button" onClick={skip}>
        {words.skip}
      </button>
      <div class="strip-area">
        <Strip />
      </div>
      {hasNav && <Nav />}
      {wide && (
        <section class="list-pane" aria-label={words.nav.home}>
          <HomeScreen />
        </section>
      )}
      <Main>{paneOf(at, wide)}</Main>
    </div>
  )
}

// The heading of a new screen takes the focus, so that who listens hears where they are; not at the first one, where the browser speaks.
function Main({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const path = pathOf(route.value)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = titleOf(main.current)
    if (!isFirst.current) main.current?.querySelector('h1')?.focus({ preventScroll: true })
    isFirst.current = false
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
      return wide ? <IdleScreen /> : <HomeScreen />
    case 'session':
      return (
        <Lazy
          key={`session ${at.id}`}
          load={() => import('./screens/session.tsx')}
          show={({ SessionScreen }) => <SessionScreen id={at.id} view={at.view} />}
        />
      )
    case 'needs-you':
      return <Lazy key="needs-you" load={() => import('./screens/needs-you.tsx')} show={({ NeedsYouScreen }) => <NeedsYouScreen />} />
    case 'new':
      return <Lazy key="new" load={() => import('./screens/new.tsx')} show={({ NewScreen }) => <NewScreen at={at} />} />
    case 'machines':
      return <Lazy key="machines" load={() => import('./screens/machines.tsx')} show={({ MachinesScreen }) => <MachinesScreen />} />
    case 'machine':
      return (
        <Lazy
          key={`machine ${at.id}`}
          load={() => import('./screens/machine.tsx')}
          show={({ MachineScreen }) => <MachineScreen id={at.id} />}
        />
      )
    case 'settings':
      return (
        <Lazy
          key="settings"
          load={() => import('./screens/settings.tsx')}
          show={({ SettingsScreen }) => <SettingsScreen page={at.page} />}
        />
      )
    default:
      return <UnknownScreen />
  }
}

function isFlow(at: Route): boolean {
  return ['start', 'start-key', 'start-check', 'scan', 'pair', 'restore', 'link', 'welcome'].includes(at.name)
}

function flowWithAccount(at: Route): ComponentChildren {
  switch (at.name) {
    case 'start-key':
      return <KeyScreen />
    case 'start-check':
      return <CheckScreen />
    case 'scan':
      return <Lazy key="scan" load={() => import('./screens/scan.tsx')} show={({ ScanScreen }) => <ScanScreen />} />
    case 'pair':
      return <Lazy key="pair" load={() => import('./screens/pair.tsx')} show={({ PairScreen }) => <PairScreen />} />
    default:
      return <Elsewhere to={{ name: 'home' }} />
  }
}

function flowWithoutAccount(at: Route): ComponentChildren {
  switch (at.name) {
    case 'start':
    case 'start-key':
    case 'start-check':
      return <CreateScreen />
    case 'restore':
      return <RestoreScreen />
    case 'link':
      return <Lazy key="link" load={() => import('./screens/link.tsx')} show={({ LinkScreen }) => <LinkScreen />} />
    default:
      // The links that the server prints and that its owner sends lead straight to the account it is for.
      return arrival.value?.fragment.has('setup') || arrival.value?.fragment.has('invite') ? <CreateScreen /> : <WelcomeScreen />
  }
}

function Elsewhere({ to }: { to: Route }) {
  useEffect(() => go(to, 'replace'), [])
  return null
}

function titleOf(main: HTMLElement | null): string {
  const heading = main?.querySelector('h1')?.textContent
  return heading ? `${heading} · ${words.app}` : words.app
}

function skip(): void {
  document.getElementById('main')?.focus()
}
