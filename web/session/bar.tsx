import type { ComponentChildren } from 'preact'
import { pathOf } from '../core/routes.ts'
import type { SessionFacts } from '../model/session/facts.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { lists } from '../words/lists.ts'
import { session as words } from '../words/session.ts'
import { CopyMark } from './row/row.tsx'

/** Back, the title, and which agent on which machine; the dot is filled while the machine is connected. */
export function SessionBar(props: {
  facts: SessionFacts | undefined
  isStale?: boolean
  title?: string
  /** Called on a tap on the title. */
  onRename?: () => void
  children?: ComponentChildren
}) {
  const { facts, onRename } = props
  // Offline, this is unknown.
  const isHere = facts?.presence === 'here' && props.isStale !== true
  return (
    <header class="bar">
      <a class="ib back" href={pathOf({ name: 'home' })} data-back aria-label={words.back}>
        <Icon name="chevron-left" />
      </a>
      <div class="bar-t">
        <h1 tabIndex={-1} dir="auto">
          {props.title ?? facts?.title ?? words.untitled}
        </h1>
        {facts?.isReadable === true && (
          <p>
            <i class={`dot ${isHere ? 'on' : ''}`} />
            {facts.isInCopy && <CopyMark branch={facts.branch} />}
            <span class="bar-s">{words.on(facts.agent, facts.host)}</span>
            {isHere && <span class="vh">. {words.live(facts.host)}</span>}
          </p>
        )}
        {onRename && (
          <button class="bar-n" type="button" aria-haspopup="dialog" aria-label={lists.renameOf(facts?.title ?? '')} onClick={onRename} />
        )}
      </div>
      {props.children}
    </header>
  )
}
