import { useLayoutEffect } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { quietDays } from '../core/preferences.ts'
import { pathOf } from '../core/routes.ts'
import { live } from '../model/account/account.ts'
import { byMonth } from '../model/archive.ts'
import { groups } from '../model/groups.ts'
import { SessionRow } from '../session/row/row.tsx'
import { readSessionSizes } from '../settings/server-storage.ts'
import { Bar } from '../ui/bar.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { lists as words } from '../words/lists.ts'
import { bytes } from '../words/size.ts'
import { monthName } from '../words/time.ts'
import { PickBox } from './row-item.tsx'
import { SelectBar } from './select-bar.tsx'
import { selected, selectThese, stopSelecting } from './selection.ts'

/** Archived sessions, by month. Opening one and sending a message unarchives it. */
export function ArchiveScreen() {
  const archived = groups.value.archived
  const picked = selected.value
  const days = quietDays.value
  const link = live.value
  // Only the server knows this; nothing is shown until it answers.
  const sizes = useAnswer(link && (() => readSessionSizes(link)), [link]).last ?? new Map<string, number>()
  const sizeOf = (id: string) => {
    const known = sizes.get(id)
    return known === undefined ? undefined : bytes(known)
  }
  const size = archived.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0)
  // Selections here are separate from those elsewhere; a first tap comes after this.
  useLayoutEffect(() => {
    stopSelecting()
    return stopSelecting
  }, [])
  return (
    <div class="screen">
      <Bar title={words.archiveTitle} sub={archived.length > 0 && words.count(archived.length)} back={pathOf({ name: 'home' })}>
        {archived.length > 0 && picked === undefined && (
          <button class="ib" type="button" aria-label={words.select} onClick={() => selectThese([])}>
            <Icon name="list-checks" />
          </button>
        )}
      </Bar>
      <div class="scroll">
        <div class="col">
          {archived.length === 0 ? (
            <Empty title={words.archiveEmpty} text={words.archiveEmptyText} />
          ) : (
            <>
              <p class="lead">
                {days === 'never' ? words.archiveHintOwn : words.archiveHint(days)} {size > 0 && words.archiveSize(bytes(size))}
              </p>
              {byMonth(archived).map(({ month, at, sessions }) => (
                <section key={month}>
                  <div class="sec">
                    <h2>{monthName(at)}</h2>
                    <span class="count">{sessions.length}</span>
                  </div>
                  <ul class="rows">
                    {sessions.map(session => (
                      <li key={session.id} class={`row-w ${picked?.has(session.id) ? 'picked' : ''}`} data-session={session.id}>
                        <SessionRow session={session} isCurrent={false} isStale={false} at={now.value} size={sizeOf(session.id)} />
                        {picked !== undefined && <PickBox id={session.id} title={session.metadata?.summary?.text ?? session.id} />}
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
            </>
          )}
        </div>
      </div>
      <SelectBar of="archive" all={archived.map(({ id }) => id)} />
    </div>
  )
}
