import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { checkClock, now } from '../core/clock.ts'
import { awaySince, type Connection, lastingConnection } from '../core/connection.ts'
import { isOn } from '../core/preferences.ts'
import { live } from '../model/account/account.ts'
import { groups } from '../model/groups.ts'
import { home } from '../model/home.ts'
import { stateOfMachine } from '../model/machines.ts'
import type { Groups } from '../model/sessions.ts'
import type { MachineView } from '../model/store.ts'
import { isWide } from '../ui/behavior/width.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Logo } from '../ui/icons/logo.tsx'
import { SkyArt } from '../ui/sky.tsx'
import { homeWords } from '../words/home.ts'
import { words } from '../words/index.ts'
import { lists } from '../words/lists.ts'
import { clockTime, lasting } from '../words/time.ts'
import { Lists } from './lists.tsx'
import { SelectBar } from './select-bar.tsx'

/** Sessions that need me, work, or are done. Beside the main pane on a wide screen, alone on a phone. */
export function HomeScreen() {
  const scroller = useKeptScroll()
  const known = groups.value
  const link = lastingConnection.value
  const stale = link.type === 'offline' || link.type === 'silent'
  const { isChecking, check } = useCheck()
  const isPulled = usePull(scroller, check)
  return (
    <div class="screen home" ref={scroller}>
      <header class={`sky ${stale ? 'stale' : ''}`}>
        <div class="sky-top">
          <span class="brand">
            {!isWide.value && <Logo size={26} />}
            <b>{words.app}</b>
          </span>
          <button class="live" type="button" title={words.connection.check} onClick={check}>
            {isPulled ? words.connection.letGo : isChecking ? words.connection.checking : <LinkWord link={link} />}
          </button>
          <a class="ib" href="/search" aria-label={lists.search}>
            <Icon name="search" />
          </a>
        </div>
        <Headline known={known} stale={stale} />
        <SkyArt hasSun={known.decisions.length > 0 && !stale} />
      </header>
      <div class="home-b">{home.value.asOf === undefined ? <Waiting /> : <Lists known={known} stale={stale} />}</div>
      <SelectBar of="home" all={[...known.working, ...known.quiet].map(({ id }) => id)} />
    </div>
  )
}

/** The main pane while no session is open. */
export function IdleScreen() {
  const known = groups.value
  const { decisions, working, quiet } = known
  const hasAny = decisions.length + working.length + quiet.length > 0
  const { asOf, machines } = home.value
  const { type } = lastingConnection.value
  const stale = type === 'offline' || type === 'silent'
  return (
    <div class="screen idle">
      <div class="idle-b">
        <SkyArt hasSun={decisions.length > 0 && !stale} />
        <h1 tabIndex={-1}>{asOf === undefined ? homeWords.loading : stale ? headlineThen(known, asOf) : headline(known)}</h1>
        {asOf !== undefined && (hasAny || machines.size > 0) && <p>{hasAny ? homeWords.pickOne : homeWords.readyText}</p>}
        {decisions.length > 0 && !stale && (
          <ButtonLink look="beacon" href="/needs-you">
            {homeWords.answerAll(decisions.length)}
          </ButtonLink>
        )}
        {hasAny && isOn('singleKeys') && <KeyHints />}
      </div>
    </div>
  )
}

function KeyHints() {
  const { move, open, begin, all } = homeWords.keys
  const hints = [
    [['J', 'K'], move],
    [['Enter'], open],
    [['N'], begin],
    [['?'], all]
  ] as const
  return (
    <p class="idle-keys">
      {hints.map(([keys, does]) => (
        <span key={does}>
          {keys.map(key => (
            <kbd key={key}>{key}</kbd>
          ))}
          {does}
        </span>
      ))}
    </p>
  )
}

function headline({ decisions, working }: Groups): string {
  if (decisions.length > 0) return homeWords.needYou(decisions.length)
  return working.length > 0 ? homeWords.nothingNeedsYou : homeWords.allQuiet
}

/** The state when the server was last reachable. */
function headlineThen({ decisions, working }: Groups, asOf: number): string {
  const at = clockTime(asOf, now.value)
  if (working.length > 0) return homeWords.wereWorking(working.length, at)
  return decisions.length > 0 ? homeWords.neededAt(decisions.length, at) : homeWords.wasQuiet(at)
}

function belowThen({ decisions, working }: Groups): string {
  if (working.length === 0) return homeWords.nothingWorked
  return decisions.length > 0 ? homeWords.neededThen(decisions.length) : homeWords.nothingNeeded
}

function LinkWord({ link }: { link: Connection }) {
  const since = awaySince.value
  return (
    <>
      <i class={`dot ${link.type === 'live' ? 'on' : ''}`} />
      {linkWord(link, since === undefined ? undefined : lasting(now.value - since))}
    </>
  )
}

/** True while releasing the list would trigger it. */
function usePull(scroller: RefObject<HTMLElement | null>, pulled: () => void): boolean {
  const [isFar, far] = useState(false)
  const latest = useRef(pulled)
  latest.current = pulled
  useEffect(() => {
    // Without it the button does the same.
    const hearing = import('./pull-to-refresh.ts').then(({ watchPulls }) =>
      scroller.current ? watchPulls(scroller.current, { far, pulled: () => latest.current() }) : () => {}
    )
    hearing.catch(() => {})
    return () => void hearing.then(stop => stop()).catch(() => {})
  }, [])
  return isFar
}

/** Everything arrives live; the only thing to refresh is whether the connection is really alive. */
function useCheck() {
  const [isChecking, setChecking] = useState(false)
  const check = () => {
    live.value?.socket.reconnectNow()
    live.value?.outbox.wake()
    setChecking(true)
    void checkClock().then(() => setChecking(false))
  }
  return { isChecking, check }
}

function linkWord(link: Connection, since: string | undefined): string {
  switch (link.type) {
    case 'live':
      return words.connection.live
    case 'starting':
      return words.connection.starting
    case 'catching-up':
      return words.connection.catchingUp
    case 'offline':
      return words.connection.offlineShort(since)
    case 'silent':
      return words.connection.silentShort
  }
}

// On a wide screen the page heading is in the main pane; this one heads its own pane.
function Headline({ known, stale }: { known: Groups; stale: boolean }) {
  const { decisions, working, quiet } = known
  const { asOf } = home.value
  if (asOf === undefined) return <h1 tabIndex={-1}>{homeWords.loading}</h1>
  if (stale) {
    return (
      <>
        <h1 tabIndex={-1}>{headlineThen(known, asOf)}</h1>
        <p class="sub">{belowThen(known)}</p>
      </>
    )
  }
  return (
    <>
      <h1 tabIndex={-1}>{headline(known)}</h1>
      <p class="sub">
        {homeWords.tally(decisions.length, working.length, quiet.length + known.archived.length)}{' '}
        <AwayMachines machines={[...home.value.machines.values()]} />
      </p>
    </>
  )
}

function AwayMachines({ machines }: { machines: readonly MachineView[] }) {
  const away = machines.filter(machine => machine.metadata && stateOfMachine(machine, home.value) === 'away')
  const only = away[0]?.metadata
  if (!only) return null
  if (away.length > 1) return <a href="/machines">{homeWords.manyAway(away.length)}</a>
  return <a href={`/machines/${encodeURIComponent(away[0]?.id ?? '')}`}>{homeWords.away(only.displayName ?? only.host)}</a>
}

/** The first time on this device: static placeholders for rows, until the server has answered. */
function Waiting() {
  return (
    <div class="skeletons" aria-hidden="true">
      {[0, 1, 2].map(row => (
        <div key={row} class="skeleton">
          <i />
          <span>
            <i />
            <i />
          </span>
        </div>
      ))}
    </div>
  )
}

let keptScroll = 0

// After returning from a session, the list keeps its scroll position.
function useKeptScroll() {
  const scroller = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    element.scrollTop = keptScroll
    return () => {
      keptScroll = element.scrollTop
    }
  }, [])
  return scroller
}
