import type { ComponentChildren } from 'preact'
import { pathOf } from '../../core/routes.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { work as words } from '../../words/work.ts'
import type { Work } from './work.ts'

/** Common properties of the screens of a session's folder. */
export interface WorkProps {
  readonly work: Work
  readonly facts: SessionFacts
  /** Inserts a text into the draft. */
  readonly onMention: (text: string) => void
}

/** Bar, the three tabs, and the content. `up`: the parent screen, if it is not the session itself. */
export function WorkFrame(props: {
  facts: SessionFacts
  work: Work
  tab: 'changes' | 'files' | 'log'
  title: string
  up?: { view: readonly string[]; label: string } | undefined
  actions?: ComponentChildren
  foot?: ComponentChildren
  children: ComponentChildren
}) {
  const { facts, tab, up } = props
  const known = props.work.status.value?.value
  const count = known?.isRepository === true ? known.files.length : undefined
  const to = (view: readonly string[]) => pathOf({ name: 'session', id: facts.id, view })
  return (
    <section class="screen work" aria-label={words[tab]}>
      <header class="bar">
        <a class="ib back keep" href={to(up?.view ?? [])} data-back aria-label={up?.label ?? words.backToSession}>
          <Icon name="chevron-left" />
        </a>
        <div class="bar-t">
          <h1 tabIndex={-1} dir="auto">
            {props.title}
          </h1>
          <p dir="auto">
            <span class="bar-s">{facts.title}</span>
          </p>
        </div>
        {props.actions}
      </header>
      <nav class="tabs" aria-label={words.views}>
        {(['changes', 'files', 'log'] as const).map(name => (
          <a key={name} href={to([name])} aria-current={name === tab ? 'page' : undefined}>
            {words[name]}
            {name === 'changes' && count !== undefined && count > 0 && <em>{count}</em>}
          </a>
        ))}
      </nav>
      <div class="scroll work-b">{props.children}</div>
      {props.foot}
    </section>
  )
}
