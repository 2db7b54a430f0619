import { useState } from 'preact/hooks'
import { go, route } from '../../core/router.ts'
import { live } from '../../model/account/account.ts'
import { groups } from '../../model/groups.ts'
import { home, pin } from '../../model/home.ts'
import { archive, unarchive } from '../../model/session/actions.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { onUse } from '../../ui/behavior/on-use.ts'
import { DotsMenu } from '../../ui/dots-menu.tsx'
import type { MenuItem } from '../../ui/menu.tsx'
import { lists } from '../../words/lists.ts'
import { session as words } from '../../words/session.ts'
import { hasChoices } from '../mode/button.tsx'

/** The pages that the menu opens, loaded on demand. */
export const sheets = onUse(() => import('./sheets.tsx'))

type SheetName = keyof Awaited<ReturnType<typeof sheets.load>>['inMenu']

/** Actions on a session other than sending messages. */
export function SessionMenu({ model, facts, onMode }: { model: SessionModel; facts: SessionFacts; onMode(): void }) {
  const at = route.value
  const isInfoAsked = at.name === 'session' && at.view[0] === 'info'
  const [open, setOpen] = useState<SheetName | undefined>(isInfoAsked ? 'info' : undefined)
  const close = () => {
    setOpen(undefined)
    if (isInfoAsked) go({ name: 'session', id: facts.id, view: [] }, 'replace')
  }
  const link = live.value
  const ids = [facts.id]
  const isPinned = home.value.pinned.has(facts.id)
  const isAway = groups.value.archived.some(({ id }) => id === facts.id)
  const putAway = () => {
    void (isAway ? unarchive(link, ids) : archive(link, ids))
  }
  const items: MenuItem[] = [
    { icon: 'pencil', name: lists.rename, onPress: () => setOpen('rename') },
    { icon: 'pin', name: isPinned ? lists.unpin : lists.pin, onPress: () => pin(ids, !isPinned) },
    // If there are changes, they have their own entry; a folder without git has none.
    { icon: 'folder', name: words.filesHere, onPress: () => go({ name: 'session', id: facts.id, view: ['files'] }) },
    { icon: 'search', name: lists.searchHere, onPress: () => go({ name: 'search', in: facts.id }) },
    { icon: 'workflow', name: lists.fork, onPress: () => setOpen('fork') },
    // While a decision replaces the composer, this is the only way to it.
    ...(hasChoices(facts) ? [{ icon: 'shield-check' as const, name: words.modeAndModel, onPress: onMode }] : []),
    { icon: 'bell', name: words.notifications, onPress: () => setOpen('notifications') },
    { icon: 'download', name: lists.export, onPress: () => setOpen('export') },
    { icon: 'info', name: words.info, onPress: () => setOpen('info') },
    { icon: isAway ? 'undo-2' : 'archive', name: isAway ? lists.restore : lists.archive, onPress: putAway },
    ...(facts.presence === 'here'
      ? [{ icon: 'log-out' as const, name: words.stopAgent, isDanger: true, onPress: () => setOpen('end') }]
      : [])
  ]
  const Opened = open && sheets.get()?.inMenu[open]
  return (
    <>
      <DotsMenu label={words.menu} items={items} />
      {Opened && <Opened model={model} facts={facts} onClose={close} />}
    </>
  )
}
