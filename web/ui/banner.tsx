import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons/icon.tsx'

/** A strip with a state of the whole app. Screen readers announce it politely when it appears. */
export function Banner(props: {
  icon: IconName
  title: string
  text: string
  spins?: boolean
  isAway?: boolean
  /** A person has to act: the only warm colour. */
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

/** An error next to its cause, with what to do about it. */
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
