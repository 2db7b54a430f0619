import { useState } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { isStale } from '../core/connection.ts'
import { flip, isOn } from '../core/preferences.ts'
import { route } from '../core/router.ts'
import { account, live, shouldHomeAskForKey } from '../model/account/account.ts'
import { home } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import { unsent } from '../model/outbox/unsent.ts'
import { byFolder, type Groups } from '../model/sessions.ts'
import type { SessionView } from '../model/store.ts'
import { decidedOnCards } from '../session/row/decided-on-cards.ts'
import { DecisionCard } from '../session/row/decision-card.tsx'
import { onUse } from '../ui/behavior/on-use.ts'
import { isWide } from '../ui/behavior/width.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { homeWords } from '../words/home.ts'
import { lists } from '../words/lists.ts'
import { NothingYet } from './empty.tsx'
import { RowItem } from './row-item.tsx'

/** Sessions that wait, work and are idle, and the way to the archive. */
export function Lists({ known, stale }: { known: Groups; stale: boolean }) {
  const { decisions, working, quiet, archived } = known
  const isEmpty = decisions.length + working.length + quiet.length === 0
  return (
    <>
      {isEmpty && <NothingYet />}
      <UnsentOnHome />
      <Decisions known={known} />
      {shouldHomeAskForKey.value && (
        <Lazy key="key-asking" load={() => import('../keys/key-reminder.tsx')} show={({ KeyReminder }) => <KeyReminder />} />
      )}
      <NotificationPrompt />
      <Unreached />
      {!isEmpty &&
        (stale ? <Rows title={homeWords.lastKnown} sessions={[...working, ...quiet]} stale hasChoice /> : <Moving known={known} />)}
      {archived.length > 0 && (
        <a class="to-archive" href="/archive">
          <Icon name="archive" />
          {lists.archiveLink(archived.length)}
          <Icon name="chevron-right" class="chev points" />
        </a>
      )}
    </>
  )
}

/** Whether this device may show notifications; known first by the code loaded with the link. */
function NotificationPrompt() {
  const loaded = live.value && permissionPrompt.get()
  return loaded ? <loaded.PermissionPrompt /> : null
}

const permissionPrompt = onUse(() => import('../notifications/permission-prompt.tsx'))

function UnsentOnHome() {
  const link = live.value
  const waiting = unsent.value
  if (!link || !waiting) return null
  return <Lazy key="unsent" load={() => import('./unsent.tsx')} show={({ UnsentCard }) => <UnsentCard link={link} unsent={waiting} />} />
}

/** Notifications do not reach this device, shown while connected. */
function Unreached() {
  const link = live.value
  const loaded = link && unreached.get()
  return loaded ? <loaded.NotificationCheck link={link} /> : null
}

const unreached = onUse(() => import('./notification-check.tsx'))

function Decisions({ known: { decisions } }: { known: Groups }) {
  // Elements inserted between move the buttons.
  const above = [unsent.value !== undefined, shouldHomeAskForKey.value, live.value?.queue.of('reply').length]
  const place = [...decisions.map(({ id }) => id), ...above].join(' ')
  if (decisions.length === 0) return <CardNotices />
  return (
    <section>
      <h2 class="vh">{homeWords.decisions}</h2>
      <CardNotices />
      <div class="asks">
        {decisions.slice(0, mostCards).map(decision => (
          <DecisionCard
            key={`${decision.session.id} ${decision.id}`}
            decision={decision}
            isCurrent={isOpen(decision.session)}
            isStale={isStale.value}
            at={now.value}
            place={place}
          />
        ))}
        {decisions.length > mostCards && (
          <a class="btn text" href="/needs-you">
            {homeWords.more(decisions.length - mostCards)}
          </a>
        )}
      </div>
    </section>
  )
}

/** The outcome of a permission allowed in a card, if it is not the intended one. */
function CardNotices() {
  const link = live.value
  const shown = link && decidedOnCards.value.size > 0 ? notices.get() : undefined
  const here = account.value
  const me = here.type === 'here' ? here.deviceName : undefined
  return link && shown ? <shown.AllNotices link={link} me={me} only={decidedOnCards.value} /> : null
}

const notices = onUse(() => import('../session/decide/notices.tsx'))

function Moving({ known: { working, quiet } }: { known: Groups }) {
  if (!isOn('byFolder')) {
    return (
      <>
        <Rows title={homeWords.working} sessions={working} stale={false} hasChoice />
        <Rows title={homeWords.quiet} sessions={quiet} stale={false} hasChoice={working.length === 0} />
      </>
    )
  }
  return (
    <>
      {byFolder([...working, ...quiet]).map(({ key, folder, machineId, sessions }, index) => {
        const machine = home.value.machines.get(machineId ?? '')
        const title = machine ? `${folder} · ${nameOfMachine(machine)}` : folder
        return <Rows key={key} title={title} sessions={sessions} stale={false} hasChoice={index === 0} />
      })}
    </>
  )
}

/** `hasChoice`: the grouping of the list is chosen next to this heading. */
function Rows(props: { title: string; sessions: readonly SessionView[]; stale: boolean; hasChoice: boolean }) {
  const { title, sessions, stale } = props
  const [isWhole, setWhole] = useState(false)
  if (sessions.length === 0) return null
  const shown = isWhole ? sessions : sessions.slice(0, mostRows)
  const isByFolder = isOn('byFolder')
  return (
    <section>
      <div class="sec">
        <h2 dir="auto">{title}</h2>
        <span class="count">{sessions.length}</span>
        {props.hasChoice && !stale && (
          <button class="sec-b" type="button" aria-label={isByFolder ? lists.byState : lists.byFolder} onClick={() => flip('byFolder')}>
            <Icon name={isByFolder ? 'list-todo' : 'folder'} />
          </button>
        )}
      </div>
      <ul class="rows">
        {shown.map(session => (
          <RowItem key={session.id} session={session} isCurrent={isOpen(session)} isStale={stale} at={now.value} />
        ))}
      </ul>
      {shown.length < sessions.length && (
        <button class="txt" type="button" onClick={() => setWhole(true)}>
          {lists.allSessions(sessions.length)}
        </button>
      )}
    </section>
  )
}

function isOpen(session: SessionView): boolean {
  const at = route.value
  return isWide.value && at.name === 'session' && at.id === session.id
}

const mostCards = 3
/** As many as a person looks through; with a thousand rows every tap would lag. */
const mostRows = 60
