import { go } from '../core/router.ts'
import { live } from '../model/account/account.ts'
import { home, markSeen, pin } from '../model/home.ts'
import { isUnread, stateOfSession, titleOf } from '../model/sessions.ts'
import type { SessionView } from '../model/store.ts'
import { isSilent, SessionRow } from '../session/row/row.tsx'
import { DotsMenu } from '../ui/dots-menu.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import type { MenuItem } from '../ui/menu.tsx'
import { words as appWords } from '../words/index.ts'
import { lists as words } from '../words/lists.ts'
import { selected, toggle } from './selection.ts'
import { useSwipe } from './swipe.ts'

/** A row of Home with all its actions: swiped, held, or from its menu. During a selection, a tap selects. */
export function RowItem(props: { session: SessionView; isCurrent: boolean; isStale: boolean; at: number }) {
  const { session } = props
  const { id } = session
  const picked = selected.value
  const isPinned = home.value.pinned.has(id)
  const title = titleOf(session) ?? appWords.session.untitled
  const link = live.value
  const putAway = () => {
    // Loaded on demand: Home would wait for it.
    void import('../model/session/actions.ts').then(({ archive }) => archive(link, [id]))
  }
  const stop = () => {
    void import('../model/session/actions.ts').then(({ askToStop }) => askToStop(link, id))
  }
  const isQuiet = !props.isStale && isSilent(session, stateOfSession(session, home.value), props.at)
  const items: MenuItem[] = [
    ...(isQuiet
      ? [
          { icon: 'info' as const, name: words.look, onPress: () => go({ name: 'session', id, view: ['info'] }) },
          { icon: 'square' as const, name: words.stopIt, onPress: stop }
        ]
      : []),
    { icon: 'pin', name: isPinned ? words.unpin : words.pin, onPress: () => pin([id], !isPinned) },
    { icon: 'archive', name: words.archive, onPress: putAway },
    ...(isUnread(session, home.value) ? [{ icon: 'check' as const, name: words.markRead, onPress: () => markSeen(id, session.seq) }] : []),
    { icon: 'list-checks', name: words.select, onPress: () => toggle(id) }
  ]
  const swipe = useSwipe({
    isOff: picked !== undefined,
    onStart: putAway,
    onEnd: () => pin([id], !isPinned),
    onHold: () => toggle(id)
  })
  return (
    <li class={`row-w ${isPinned ? 'pinned' : ''} ${picked?.has(id) ? 'picked' : ''}`} data-session={id} ref={swipe}>
      <span class="swipe-archive" aria-hidden="true">
        <Icon name="archive" />
      </span>
      <span class="swipe-pin" aria-hidden="true">
        <Icon name="pin" />
      </span>
      <SessionRow {...props} isPinned={isPinned} />
      {picked === undefined ? <DotsMenu label={words.more(title)} class="row-menu" items={items} /> : <PickBox id={id} title={title} />}
    </li>
  )
}

/** Covers the whole row, so that a tap anywhere selects. */
export function PickBox({ id, title }: { id: string; title: string }) {
  return (
    <label class="pick-box">
      <input type="checkbox" aria-label={words.selectOne(title)} checked={selected.value?.has(id) === true} onChange={() => toggle(id)} />
    </label>
  )
}
