import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { flip } from '../core/preferences.ts'
import { go, route } from '../core/router.ts'
import type { Route } from '../core/routes.ts'
import { live } from '../model/account/account.ts'
import { groups } from '../model/groups.ts'
import { home, pin } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import { hasWords, wordsOf } from '../model/search-text.ts'
import { archive } from '../model/session/actions.ts'
import { lastMovedAt, titleOf } from '../model/sessions.ts'
import { whereOf } from '../session/row/row.tsx'
import { focusBack } from '../ui/behavior/focus-back.ts'
import { pushLayer } from '../ui/behavior/layers.ts'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { words as appWords } from '../words/index.ts'
import { lists as words } from '../words/lists.ts'

interface Offer {
  readonly key: string
  readonly icon: IconName
  readonly title: string
  readonly meta?: string
  pick(): void
}

/** Sessions, pages and actions by name; the arrow keys select, Enter runs. */
export function Palette({ onClose }: { onClose(): void }) {
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const chosen = useRef<Offer>(undefined)
  const stepBack = useRef<() => void>(() => {})
  const all = useMemo(offers, [])
  const sought = wordsOf(query)
  const found = all.filter(({ title, meta }) => hasWords(`${title} ${meta ?? ''}`, sought)).slice(0, mostShown)
  const index = Math.min(at, found.length - 1)

  useEffect(() => {
    const element = dialog.current
    const giveBack = focusBack()
    element?.showModal()
    // Runs the choice once the layer is gone from history, so that Back does not return to the palette.
    const layer = pushLayer(() => {
      onClose()
      chosen.current?.pick()
    })
    stepBack.current = layer.close
    const leave = (event: Event) => {
      event.preventDefault()
      stepBack.current()
    }
    const beside = (event: MouseEvent) => event.target === element && stepBack.current()
    element?.addEventListener('cancel', leave)
    element?.addEventListener('click', beside)
    return () => {
      element?.close()
      giveBack()
      layer.end()
    }
  }, [])
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [index])

  const take = (offer: Offer | undefined) => {
    if (!offer) return
    chosen.current = offer
    stepBack.current()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Enter' && !event.isComposing) take(found[index])
    if (step === 0) return
    event.preventDefault()
    setAt((index + step + found.length) % Math.max(1, found.length))
  }
  return (
    <dialog class="palette" ref={dialog} aria-label={words.palette}>
      <div class="search-in">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found[index] && `${id}-${found[index].key}`}
          aria-label={words.palette}
          placeholder={words.paletteHint}
          value={query}
          autocomplete="off"
          spellcheck={false}
          onInput={event => {
            setQuery(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={id} class="palette-list" role="listbox" aria-label={words.palette} ref={list}>
        {found.map((offer, position) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are taken by the line above, which keeps the focus
          <div
            key={offer.key}
            id={`${id}-${offer.key}`}
            role="option"
            tabIndex={-1}
            aria-selected={position === index}
            onClick={() => take(offer)}
            onPointerMove={() => position !== index && setAt(position)}
          >
            <Icon name={offer.icon} />
            <span dir="auto">{offer.title}</span>
            {offer.meta && <small>{offer.meta}</small>}
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p class="note" role="status">
          {words.paletteNothing}
        </p>
      )}
    </dialog>
  )
}

const mostShown = 30

function offers(): Offer[] {
  const known = home.peek()
  const to = (key: string, icon: IconName, title: string, route: Route, meta?: string): Offer => ({
    key,
    icon,
    title,
    ...(meta !== undefined && { meta }),
    pick: () => go(route)
  })
  const sessions = [...known.sessions.values()].sort((a, b) => lastMovedAt(b) - lastMovedAt(a))
  const machines = [...known.machines.values()]
  return [
    ...(groups.peek().decisions.length > 0 ? [to('needs', 'hand', words.goNeedsYou, { name: 'needs-you' })] : []),
    ...here(),
    to('new', 'plus', words.newSession, { name: 'new' }),
    to('search', 'search', words.searchFor, { name: 'search' }),
    to('home', 'house', words.goHome, { name: 'home' }),
    to('machines', 'monitor', words.goMachines, { name: 'machines' }),
    to('settings', 'settings', words.goSettings, { name: 'settings' }),
    to('archive', 'archive', words.goArchive, { name: 'archive' }),
    { key: 'fold-list', icon: 'columns-2', title: words.key.foldList, pick: () => flip('listFolded') },
    { key: 'fold-side', icon: 'columns-2', title: words.key.foldSide, pick: () => flip('sideFolded') },
    ...sessions.map(session =>
      to(
        `s-${session.id}`,
        'message-square-text',
        titleOf(session) ?? appWords.session.untitled,
        { name: 'session', id: session.id, view: [] },
        whereOf(session)
      )
    ),
    ...machines.map(machine => to(`m-${machine.id}`, 'monitor', nameOfMachine(machine), { name: 'machine', id: machine.id }))
  ]
}

/** Actions on the open session. */
function here(): Offer[] {
  const at = route.peek()
  const link = live.peek()
  if (at.name !== 'session' || !home.peek().sessions.has(at.id)) return []
  const { id } = at
  const isPinned = home.peek().pinned.has(id)
  return [
    { key: 'changes', icon: 'file-diff', title: words.showChanges, pick: () => go({ name: 'session', id, view: ['changes'] }) },
    { key: 'pin', icon: 'pin', title: isPinned ? words.unpin : words.pin, pick: () => pin([id], !isPinned) },
    { key: 'search-here', icon: 'search', title: words.searchHere, pick: () => go({ name: 'search', in: id }) },
    {
      key: 'put-away',
      icon: 'archive',
      title: words.archive,
      pick: () => void archive(link, [id])
    }
  ]
}
