import type { ComponentChildren } from 'preact'
import type { StepKind } from '../../../lib/protocol/sealed/messages.ts'
import { Icon, type IconName } from './icon.tsx'

type State = 'needs' | 'working' | 'done' | 'failed' | 'quiet' | 'ended' | 'away'

/** The state of a session as a shape; callers add its name as text. `icon` is shown inside the disc of a session that needs a person. */
export function Glyph({ state, icon = 'hand', big = false }: { state: State; icon?: IconName; big?: boolean }) {
  return <span class={`gl gl-${state} ${big ? 'big' : ''}`}>{drawings[state](icon)}</span>
}

/** The spinner for work in progress. */
export function Ring() {
  return (
    <svg viewBox="0 0 28 28" aria-hidden="true">
      <circle class="ring-track" cx="14" cy="14" r="10" />
      <circle class="ring-arc" cx="14" cy="14" r="10" />
    </svg>
  )
}

/** The icon for the kind of a decision. */
export function decisionIcon(kind: StepKind): IconName {
  return decisionIcons[kind] ?? 'hand'
}

const drawings: Record<State, (icon: IconName) => ComponentChildren> = {
  needs: icon => <Icon name={icon} />,
  working: () => <Ring />,
  done: () => <Icon name="check" />,
  failed: () => <Icon name="x" />,
  quiet: () => null,
  ended: () => null,
  away: () => <Icon name="circle-dashed" />
}

const decisionIcons: Partial<Record<StepKind, IconName>> = {
  read: 'file-text',
  search: 'search-code',
  edit: 'file-pen-line',
  delete: 'trash',
  move: 'file-pen-line',
  execute: 'square-terminal',
  fetch: 'globe',
  plan: 'list-checks'
}
