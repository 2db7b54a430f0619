import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons/icon.tsx'

/** A strip that says a state of the whole app. Read out politely when it appears. */
export function Banner(props: {
  icon: IconName
  title: string
  text: string
  spins?: boolean
  isAway?: boolean
  /** Somebody has to do something: the one warm colour. */
  needs?: boolean
  children?: ComponentChildren
}) {
  return (
    <div class={`banner ${props.isAway ? 'off' : ''} ${props.needs ? 'needs' : ''}`} role="status">
      <Icon name={props.icon} class={props.spins ? 'spin' : ''} />
      <div>
        <b>{props.title}</b>
        <span>{props.text}</span>
      </div>
      {props.children}
    </div>
  )
}

/** Something that did not work, next to the thing, with what to do. */
export function Problem({ title, text }: { title: string; text?: string | undefined }) {
  return (
    <div class="problem" role="alert">
      <Icon name="circle-alert" />
      <div>
        <b>{title}</b>
        {text && <span>{text}</span>}
      </div>
    </div>
  )
}
