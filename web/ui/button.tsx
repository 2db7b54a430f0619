import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons/icon.tsx'

type Look = 'primary' | 'quiet' | 'text' | 'danger' | 'beacon'

/** While busy, the button keeps its place and says what is happening. */
export function Button(props: {
  look: Look
  onClick?: () => void
  type?: 'button' | 'submit'
  isLarge?: boolean
  isWide?: boolean
  isOff?: boolean
  busy?: string | false
  icon?: IconName
  class?: string
  children: ComponentChildren
}) {
  const size = `${props.isLarge ? 'lg' : ''} ${props.isWide ? 'wide' : ''}`
  return (
    <button
      class={`btn ${props.look} ${size} ${props.busy ? 'busy' : ''} ${props.class ?? ''}`}
      type={props.type ?? 'button'}
      disabled={props.isOff ?? false}
      aria-disabled={props.busy ? true : undefined}
      onClick={props.busy ? undefined : props.onClick}
    >
      {props.icon && <Icon name={props.icon} />}
      {props.busy || props.children}
    </button>
  )
}

/** A link that looks like a button. */
export function ButtonLink(props: {
  look: Look
  href: string
  isLarge?: boolean
  isWide?: boolean
  icon?: IconName
  children: ComponentChildren
}) {
  return (
    <a class={`btn ${props.look} ${props.isLarge ? 'lg' : ''} ${props.isWide ? 'wide' : ''}`} href={props.href}>
      {props.icon && <Icon name={props.icon} />}
      {props.children}
    </a>
  )
}
