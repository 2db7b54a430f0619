import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Logo } from '../icons/logo.tsx'
import { ButtonLink } from '../parts/button.tsx'
import { DecisionCard } from '../parts/decision-card.tsx'
import { Empty } from '../parts/empty.tsx'
import { SessionRow } from '../parts/row.tsx'
import { SkyArt } from '../parts/sky.tsx'
import { route } from '../router.ts'
import { now } from '../state/clock.ts'
import { awaySince, type Connection, isStale, lastingConnection } from '../state/connection.ts'
import { groups } from '../state/groups.ts'
import { home } from '../state/home.ts'
import { hasHelper, stateOfMachine } from '../state/machines.ts'
import type { Groups } from '../state/sessions.ts'
import type { MachineView, SessionView } from '../state/store.ts'
import { isWide } from '../state/width.ts'
import { words } from '../words/index.ts'
import { clockTime, lasting } from '../words/time.ts'

/** What needs me, what moves, what is done. Beside everything else on a wide screen, alone on a phone. */
export function HomeScreen() {
  const scroller = useKeptScroll()
  const known = groups.value
  const link = lastingConnection.value
  const stale = link.type === 'offline' || link.type === 'silent'
  return (
    <div class="screen home" ref={scroller}>
      <header class={`sky ${stale ? 'stale' : ''}`}>
        <div class="sky-top">
          <span class="brand">
            {!isWide.value && <Logo size={26} />}
            <b>{words.app}</b>
          </span>
          <LinkWord link={link} />
        </div>
        <Headline known={known} stale={stale} />
        <SkyArt hasSun={known.decisions.length > 0 && !stale} />
      </header>
      <div class="home-b">{home.value.asOf === undefined ? <Waiting /> : <Lists known={known} stale={stale} />}</div>
    </div>
  )
}

/** The main pane while no session is open. */
export function IdleScreen() {
  const { decisions, working, quiet } = groups.value
  const first = decisions[0]
  const hasAny = decisions.length + working.length + quiet.length > 0
  const isKnown = home.value.asOf !== undefined
  return (
    <div class="screen idle">
      <div class="idle-b">
        <SkyArt hasSun={first !== undefined} />
        <h1 tabIndex={-1}>{idleTitle(isKnown, decisions.length)}</h1>
        {isKnown && <p>{hasAny ? words.home.pickOne : words.home.readyText}</p>}
        {first && (
          <ButtonLink look="beacon" href="/needs-you">
            {words.home.answerAll(decisions.length)}
          </ButtonLink>
        )}
      </div>
    </div>
  )
}

function idleTitle(isKnown: boolean, waiting: number): string {
  if (!isKnown) return words.home.loading
  return waiting > 0 ? words.home.needYou(waiting) : words.home.allQuiet
}

function LinkWord({ link }: { link: Connection }) {
  const since = awaySince.value
  return (
    <span class="live">
      <i class={`dot ${link.type === 'live' ? 'on' : ''}`} />
      {linkWord(link, since === undefined ? undefined : lasting(now.value - since))}
    </span>
  )
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

// On a wide screen the heading of the page is in the main pane; this one heads its own pane.
function Headline({ known, stale }: { known: Groups; stale: boolean }) {
  const { decisions, working, quiet } = known
  const { asOf } = home.value
  if (asOf === undefined) return <h1 tabIndex={-1}>{words.home.loading}</h1>
  if (stale) {
    return (
      <>
        <h1 tabIndex={-1}>{words.home.wereWorking(working.length, clockTime(asOf, now.value))}</h1>
        <p class="sub">{decisions.length > 0 ? words.home.neededThen(decisions.length) : words.home.nothingNeeded}</p>
      </>
    )
  }
  return (
    <>
      <h1 tabIndex={-1}>{decisions.length > 0 ? words.home.needYou(decisions.length) : words.home.allQuiet}</h1>
      <p class="sub">
        {words.home.tally(decisions.length, working.length, quiet.length)} <AwayMachines machines={[...home.value.machines.values()]} />
      </p>
    </>
  )
}

function AwayMachines({ machines }: { machines: readonly MachineView[] }) {
  const away = machines.filter(machine => machine.metadata && stateOfMachine(machine, home.value) === 'away')
  const only = away[0]?.metadata
  if (!only) return null
  if (away.length > 1) return <a href="/machines">{words.home.manyAway(away.length)}</a>
  return <a href={`/machines/${encodeURIComponent(away[0]?.id ?? '')}`}>{words.home.away(only.displayName ?? only.host)}</a>
}

function Lists({ known, stale }: { known: Groups; stale: boolean }) {
  const { decisions, working, quiet } = known
  if (decisions.length + working.length + quiet.length === 0) return <NothingYet />
  const shown = decisions.slice(0, mostCards)
  return (
    <>
      {decisions.length > 0 && (
        <section>
          <h2 class="vh">{words.home.decisions}</h2>
          <div class="asks">
            {shown.map(decision => (
              <DecisionCard
                key={`${decision.session.id} ${decision.request.id}`}
                decision={decision}
                isCurrent={isOpen(decision.session)}
                isStale={isStale.value}
                at={now.value}
              />
            ))}
            {decisions.length > mostCards && (
              <a class="btn text" href="/needs-you">
                {words.home.more(decisions.length - mostCards)}
              </a>
            )}
          </div>
        </section>
      )}
      {stale ? (
        <Rows title={words.home.lastKnown} sessions={[...working, ...quiet]} stale />
      ) : (
        <>
          <Rows title={words.home.working} sessions={working} stale={false} />
          <Rows title={words.home.quiet} sessions={quiet} stale={false} />
        </>
      )}
    </>
  )
}

function Rows({ title, sessions, stale }: { title: string; sessions: readonly SessionView[]; stale: boolean }): ComponentChildren {
  if (sessions.length === 0) return null
  return (
    <section>
      <div class="sec">
        <h2>{title}</h2>
        <span class="count">{sessions.length}</span>
      </div>
      <ul class="rows">
        {sessions.map(session => (
          <li key={session.id}>
            <SessionRow session={session} isCurrent={isOpen(session)} isStale={stale} at={now.value} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NothingYet() {
  const machine = [...home.value.machines.values()].find(({ metadata }) => metadata)
  if (machine?.metadata) {
    return (
      <Empty title={words.home.ready(machine.metadata.displayName ?? machine.metadata.host)} text={words.home.readyText}>
        <ButtonLink look="primary" href="/new">
          {hasHelper(machine) ? words.new.title : words.home.howToStart}
        </ButtonLink>
      </Empty>
    )
  }
  const [before, command, after] = words.home.emptyText
  return (
    <Empty
      title={words.home.empty}
      text={
        <>
          {before}
          <code>{command}</code>
          {after}
        </>
      }
    >
      <ButtonLink look="primary" href="/scan" icon="scan-line">
        {words.home.scan}
      </ButtonLink>
      <ButtonLink look="text" href="/new">
        {words.home.howToStart}
      </ButtonLink>
    </Empty>
  )
}

/** The first time on this device: shapes of rows, still, until the server has told something. */
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

const mostCards = 3
let keptScroll = 0

// Back from a session, the list stands where it stood.
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

function isOpen(session: SessionView): boolean {
  const at = route.value
  return isWide.value && at.name === 'session' && at.id === session.id
}
