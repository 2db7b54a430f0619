import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons/icon.tsx'

export interface MenuItem {
  readonly icon: IconName
  readonly name: string
  readonly isDanger?: boolean
  onPress(): void
}

/** A short menu of actions. Escape and a tap elsewhere close it; the arrow keys move through it. */
export function Menu({ label, items, onClose }: { label: string; items: readonly MenuItem[]; onClose(): void }) {
  const menu = useRef<HTMLDivElement>(null)
  const latest = useRef(onClose)
  latest.current = onClose
  // In the layout effect: a key pressed before the next frame is already meant for the menu.
  useLayoutEffect(() => {
    const from = document.activeElement
    const leave = (event: Event) => {
      const isInside = event.target instanceof Node && menu.current?.parentElement?.contains(event.target) === true
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !isInside) latest.current()
    }
    addEventListener('pointerdown', leave)
    addEventListener('keydown', leave)
    menu.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    return () => {
      removeEventListener('pointerdown', leave)
      removeEventListener('keydown', leave)
      if (document.activeElement === document.body && from instanceof HTMLElement) from.focus()
    }
  }, [])
  const walk = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    const all = [...(menu.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const focused = document.activeElement
    const at = focused instanceof HTMLElement ? all.indexOf(focused) : -1
    all[(at + (event.key === 'ArrowDown' ? 1 : -1) + all.length) % all.length]?.focus()
  }
  return (
    <div class="menu" role="menu" aria-label={label} ref={menu} onKeyDown={walk}>
      {items.map(({ icon, name, isDanger, onPress }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={isDanger ? 'danger' : ''}
          onClick={() => {
            onClose()
            onPress()
          }}
        >
          <Icon name={icon} />
          {name}
        </button>
      ))}
    </div>
  )
}
