import type { ComponentChildren } from 'preact'
import { useTicking } from '../../core/ticking.ts'
import { home } from '../../model/home.ts'
import { stateOfMachine } from '../../model/machines.ts'
import {
  agentOf,
  hostOf,
  isInCopy,
  isUnread,
  lastLineOf,
  lastMovedAt,
  openDecisions,
  projectOf,
  type SessionState,
  stateOfSession,
  titleOf
} from '../../model/sessions.ts'
import type { MachineView, SessionView } from '../../model/store.ts'
import { Glyph } from '../../ui/icons/glyph.tsx'
import { Icon, type IconName } from '../../ui/icons/icon.tsx'
import { words } from '../../words/index.ts'
import { lists } from '../../words/lists.ts'
import { ago, clockTime, duration, fullTime, lasting } from '../../words/time.ts'
import { decisionGlyph, decisionTitle } from './decision-card.tsx'

/** A session as one link: its state, title, activity and place. `isStale` shows clock times instead of ages. */
export function SessionRow({
  session,
  isCurrent,
  isStale,
  isPinned = false,
  size,
  at
}: {
  session: SessionView
  isCurrent: boolean
  isStale: boolean
  isPinned?: boolean
  /** Its storage on the server, where relevant. */
  size?: string | undefined
  at: number
}) {
  const known = stateOfSession(session, home.value)
  const state = isStale && known === 'working' ? 'quiet' : known
  const moved = lastMovedAt(session)
  return (
    <a
      class={`row ${isUnread(session, home.value) ? 'unread' : ''}`}
      href={`/s/${encodeURIComponent(session.id)}`}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <Glyph state={state} icon={rowIcon(session)} />
      <span class="vh">{words.state[known]}. </span>
      <span class="row-b">
        <span class="row-t" dir="auto">
          {session.metadata ? (titleOf(session) ?? words.session.untitled) : words.session.sealed}
        </span>
        <span class="row-a" dir="auto">
          {sealed(session) ?? silence(session, state, at) ?? <LiveLine session={session} state={state} />}
        </span>
        <span class="row-m">
          {session.metadata && isInCopy(session.metadata) && <CopyMark branch={session.metadata.gitBranch} />}
          {state === 'quiet' && known === state && `${words.state[state]} · `}
          {whereOf(session)}
        </span>
      </span>
      <span class="row-e">
        <time dateTime={new Date(moved).toISOString()} title={fullTime(moved)}>
          {isStale ? clockTime(moved, at) : ago(moved, at)}
        </time>
        <Work session={session} state={state} />
        {size !== undefined && <span class="row-size">{size}</span>}
        {isPinned && (
          <span class="row-pin">
            <Icon name="pin" />
            <span class="vh">{lists.pinned}</span>
          </span>
        )}
      </span>
    </a>
  )
}

/** The progress of its plan while it works, and the size of its last changes otherwise. */
function Work({ session: { metadata }, state }: { session: SessionView; state: SessionState }) {
  const { progress, changes } = metadata ?? {}
  if (state === 'working' && progress !== undefined && progress.all > 0) return <Progress {...progress} />
  if (state === 'working' || state === 'needs' || changes === undefined) return null
  return (
    <span class="row-x pm">
      <b class="p">
        <span aria-hidden="true">+{changes.added}</span>
        <span class="vh">{words.session.added(changes.added)}</span>
      </b>{' '}
      <b class="m">
        <span aria-hidden="true">−{changes.removed}</span>
        <span class="vh">{words.session.removed(changes.removed)}</span>
      </b>
    </span>
  )
}

/** A mark for each step of a plan; for a long one, as many as can be distinguished. */
function Progress({ done, all }: { done: number; all: number }) {
  const marks = Math.min(all, mostMarks)
  const full = done >= all ? marks : Math.min(marks - 1, Math.floor((done / all) * marks))
  return (
    <span class="row-x plan-marks" title={words.session.planned(done, all)}>
      {Array.from({ length: marks }, (_, index) => (
        <i key={index} class={index < full ? 'on' : ''} />
      ))}
      <span class="vh">{words.session.planned(done, all)}</span>
    </span>
  )
}

const mostMarks = 6

/** It works in a copy of the project, on its own branch. */
export function CopyMark({ branch }: { branch: string | null | undefined }) {
  return (
    <span class="row-copy" title={branch ?? undefined}>
      <Icon name="git-branch" />
      <span class="vh">{lists.facts.worktree}. </span>
    </span>
  )
}

/** Folder, agent and machine of a session, for the small print. */
export function whereOf(session: SessionView): string {
  const { metadata } = session
  if (!metadata) return words.session.sealedText
  return [projectOf(metadata), agentOf(session), hostOf(session, machineOf(session))].filter(part => part !== undefined).join(' · ')
}

/** A row of settings or facts with a link. */
export function LinkRow(props: { href: string; icon: IconName; title: string; text?: string | undefined; children?: ComponentChildren }) {
  return (
    <a class="irow" href={props.href}>
      <Icon name={props.icon} />
      <span>
        <b>{props.title}</b>
        {props.text && <small>{props.text}</small>}
      </span>
      {props.children}
      <Icon name="chevron-right" class="chev" />
    </a>
  )
}

/** The open request of its agent. */
export function rowIcon(session: SessionView): IconName {
  const decision = openDecisions(session)[0]
  return decision ? decisionGlyph(decision) : 'hand'
}

function absence(session: SessionView): string {
  const machine = machineOf(session)
  const host = hostOf(session, machine)
  const isMachineAway = machine !== undefined && stateOfMachine(machine, home.value) === 'away'
  return isMachineAway && host !== undefined ? words.session.waitsFor(host) : words.session.daemonGone
}

function machineOf({ metadata }: SessionView): MachineView | undefined {
  return metadata?.machineId === undefined ? undefined : home.value.machines.get(metadata.machineId)
}

/** It may have an open request, which is unknown here. */
function sealed({ metadata, isActive, agentState }: SessionView): ComponentChildren {
  if (!metadata || !isActive || agentState !== undefined) return undefined
  return (
    <>
      <span class="row-copy">
        <Icon name="lock" />
      </span>
      {lists.asksSealed}
    </>
  )
}

function silence(session: SessionView, state: SessionState, at: number): string | undefined {
  return session.last && isSilent(session, state, at) ? lists.silentFor(lasting(at - session.last.at)) : undefined
}

/** A working agent without output for long; not an error. */
export function isSilent({ last }: SessionView, state: SessionState, at: number): boolean {
  return state === 'working' && last !== undefined && at - last.at >= silentAfterMs
}

/** Silence longer than this is shown. */
export const silentAfterMs = 4 * 60_000

function LiveLine({ session, state }: { session: SessionView; state: SessionState }) {
  const { last } = session
  const command = last?.command
  if (state === 'working' && command?.hasRun === false) return <RunningLine what={last?.text ?? ''} since={runsSince(session)} />
  return <>{liveLine(session, state)}</>
}

function RunningLine({ what, since }: { what: string; since: number }) {
  const tookMs = useTicking(true) - since
  return <>{tookMs < 1000 ? words.session.running(what) : words.session.runningFor(what, duration(tookMs))}</>
}

// A command reported before it was allowed runs from then on.
function runsSince({ last, agentState }: SessionView): number {
  const answered = Object.values(agentState?.completedRequests ?? {}).map(request => request.completedAt ?? 0)
  return Math.max(last?.at ?? 0, ...answered)
}

function liveLine(session: SessionView, state: SessionState): string {
  if (!session.metadata) return ''
  const shown = lastLineOf(session)
  const last = shown?.command?.hasRun ? words.session.ran(shown.text) : shown?.text
  if (state === 'away') return absence(session)
  const decision = openDecisions(session)[0]
  if (decision) return decisionTitle(decision)
  if (state === 'working') return last ?? words.session.working
  if (last !== undefined || !session.isActive) return last ?? words.state.ended
  return session.last ? words.session.ready : words.session.starting
}
