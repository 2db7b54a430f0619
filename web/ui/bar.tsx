import type { ComponentChildren } from 'preact'
import { words } from '../words/index.ts'
import { Icon, type IconName } from './icons/icon.tsx'

/** The bar at the top of a screen. `back` is the address of the parent screen; on wide screens it is shown only with `keepBack`. */
export function Bar(props: {
  title: ComponentChildren
  sub?: ComponentChildren
  back?: string
  keepBack?: boolean
  children?: ComponentChildren
}) {
  return (
    <header class="bar">
      {props.back && <BackLink to={props.back} keep={props.keepBack ?? false} />}
      <div class="bar-t">
        <h1 tabIndex={-1} dir="auto">
          {props.title}
        </h1>
        {props.sub && <p>{props.sub}</p>}
      </div>
      {props.children}
    </header>
  )
}

/** The bar of a flow: the heading is in the page, so this only shows the progress. */
export function FlowBar({ note, back, icon }: { note?: ComponentChildren; back: string; icon?: IconName }) {
  return (
    <header class="bar plain">
      <BackLink to={back} keep {...(icon ? { icon, label: words.cancel } : {})} />
      <div class="bar-t">{note && <p>{note}</p>}</div>
    </header>
  )
}

function BackLink({ to, keep, icon = 'chevron-left', label = words.back }: { to: string; keep: boolean; icon?: IconName; label?: string }) {
  return (
    <a class={`ib back ${keep ? 'keep' : ''}`} href={to} data-back aria-label={label}>
      <Icon name={icon} />
    </a>
  )
}
