import { useState } from 'preact/hooks'
import { live } from '../model/account/account.ts'
import { home, markSeen, pin } from '../model/home.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { toast } from '../ui/toast.ts'
import { words as appWords } from '../words/index.ts'
import { lists as words } from '../words/lists.ts'
import { selected, selectThese, stopSelecting } from './selection.ts'

// The code to call the server would triple what Home waits for.
const sessionActions = () => import('../model/session/actions.ts')

/** The actions for the selected sessions. `all`: those on the screen. */
export function SelectBar({ of, all }: { of: 'home' | 'archive'; all: readonly string[] }) {
  const [asked, ask] = useState<'stop' | 'delete'>()
  const picked = selected.value
  const link = live.value
  if (picked === undefined) return null
  const ids = [...picked].filter(id => home.value.sessions.has(id))
  const allPinned = ids.every(id => home.value.pinned.has(id))
  const then = (work: () => unknown) => () => {
    void work()
    stopSelecting()
  }
  return (
    <div class="select-bar" role="toolbar" aria-label={words.selected(ids.length)}>
      <div class="select-h">
        <b role="status">{words.selected(ids.length)}</b>
        <button class="txt" type="button" onClick={() => selectThese(all)}>
          {words.selectAll}
        </button>
        <button class="txt" type="button" onClick={stopSelecting}>
          {words.done}
        </button>
      </div>
      <div class="select-acts">
        {of === 'home' ? (
          <>
            <Act
              icon="archive"
              name={words.archive}
              isOff={ids.length === 0}
              onPick={then(() => sessionActions().then(({ archive }) => archive(link, ids)))}
            />
            <Act icon="pin" name={allPinned ? words.unpin : words.pin} isOff={ids.length === 0} onPick={then(() => pin(ids, !allPinned))} />
            <Act
              icon="check"
              name={words.markRead}
              isOff={ids.length === 0}
              onPick={then(() => {
                for (const id of ids) markSeen(id, home.peek().sessions.get(id)?.seq ?? 0)
              })}
            />
            <Act icon="log-out" name={words.stop} isOff={!ids.some(isRunning)} onPick={() => ask('stop')} />
          </>
        ) : (
          <>
            <Act
              icon="undo-2"
              name={words.restore}
              isOff={ids.length === 0}
              onPick={then(() => sessionActions().then(({ unarchive }) => unarchive(link, ids)))}
            />
            <Act icon="trash" name={words.delete} isOff={ids.length === 0} onPick={() => ask('delete')} />
          </>
        )}
      </div>
      {asked && <ConfirmSheet what={asked} ids={asked === 'stop' ? ids.filter(isRunning) : ids} onClose={() => ask(undefined)} />}
    </div>
  )
}

function Act(props: { icon: IconName; name: string; isOff: boolean; onPick(): void }) {
  return (
    <button type="button" disabled={props.isOff} onClick={props.onPick}>
      <Icon name={props.icon} />
      <span>{props.name}</span>
    </button>
  )
}

/** For actions that cannot be undone. */
function ConfirmSheet({ what, ids, onClose }: { what: 'stop' | 'delete'; ids: readonly string[]; onClose(): void }) {
  const { isBusy, run } = useBusy()
  const link = live.value
  const isDelete = what === 'delete'
  const act = () =>
    run(async () => {
      const { deleteEach, endEach } = await sessionActions()
      const each = isDelete ? deleteEach : endEach
      const done = link ? await each(link, ids) : 0
      closeLayer()
      stopSelecting()
      toast(done < ids.length ? words.notDoneFor(ids.length - done) : isDelete ? words.deleted(done) : words.stopped(done))
    })
  return (
    <Sheet title={isDelete ? words.deleteTitle(ids.length) : words.stopTitle(ids.length)} onClose={onClose}>
      <p class="lead">{isDelete ? words.deleteText : words.stopText}</p>
      <div class="acts two">
        <Button look="quiet" isLarge onClick={closeLayer}>
          {appWords.cancel}
        </Button>
        <Button look="danger" isLarge onClick={() => void act()} busy={isBusy && words.deleting}>
          {isDelete ? words.delete : words.stop}
        </Button>
      </div>
    </Sheet>
  )
}

function isRunning(id: string): boolean {
  return home.peek().sessions.get(id)?.isActive === true
}
