import { useState } from 'preact/hooks'
import { Icon } from './icons/icon.tsx'
import { Menu, type MenuItem } from './menu.tsx'

/** A button with three dots, and its menu. */
export function DotsMenu(props: { label: string; class?: string; items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class={`menu-w ${props.class ?? ''}`}>
      <button
        class="ib"
        type="button"
        aria-label={props.label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="ellipsis-vertical" />
      </button>
      {isOpen && <Menu label={props.label} items={props.items} onClose={() => setOpen(false)} />}
    </div>
  )
}
