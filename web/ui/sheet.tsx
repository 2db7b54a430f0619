import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { words } from '../words/index.ts'
import { focusBack } from './behavior/focus-back.ts'
import { pushLayer } from './behavior/layers.ts'
import { dragDown } from './behavior/swipe-across.ts'
import { Icon } from './icons/icon.tsx'

/** Slides up from below on a phone, centred elsewhere. Back, Escape and a tap outside close it; focus returns to where it was. */
export function Sheet({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const closed = useRef(onClose)
  closed.current = onClose

  useEffect(() => {
    const element = dialog.current
    const giveBack = focusBack()
    element?.showModal()
    const layer = pushLayer(() => closed.current())
    const stepBack = layer.close
    const leave = (event: Event) => {
      event.preventDefault()
      stepBack()
    }
    const beside = (event: MouseEvent) => event.target === element && stepBack()
    const button = element?.querySelector('.sheet-x')
    element?.addEventListener('cancel', leave)
    element?.addEventListener('click', beside)
    button?.addEventListener('click', stepBack)
    const head = element?.querySelector<HTMLElement>('.sheet-h')
    if (element && head)
      dragDown(element, head, { isHeld: () => element.querySelector('.busy, [aria-busy=true]') !== null, close: stepBack })
    return () => {
      element?.close()
      giveBack()
      layer.end()
    }
  }, [])

  return (
    <dialog class="sheet" ref={dialog} aria-labelledby={heading}>
      <header class="sheet-h">
        <h2 id={heading}>{title}</h2>
        <button class="ib sheet-x" type="button" aria-label={words.close}>
          <Icon name="x" />
        </button>
      </header>
      {children}
    </dialog>
  )
}
