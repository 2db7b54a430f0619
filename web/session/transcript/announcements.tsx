import { useEffect, useRef, useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import type { SessionModel } from '../../model/session/session.ts'
import type { Item } from '../../model/transcript/items.ts'
import { lists as words } from '../../words/lists.ts'
import { createAnnouncer } from './announcer.ts'
import { stepWordsOf } from './step-words.ts'

/** Announces politely how many steps there were and what is running. It is not visible. */
export function Announcements(props: {
  model: SessionModel
  /** The steps with the decisions about them: a denied step does not run. */
  items: readonly Item[]
  waiting: ReadonlySet<string>
  folder: string | undefined
}) {
  const { model, items, waiting, folder } = props
  const [said, say] = useState({ text: '', at: 0 })
  const announcer = useRef<ReturnType<typeof createAnnouncer>>(undefined)
  const isLive = model.feed.value === 'live' && isOn('announces')
  useEffect(() => {
    const own = createAnnouncer(({ steps, running }) => {
      const now = running && stepWordsOf(running, 'running', folder)
      const text = now ? words.stepsNow(steps, now.verb, now.object) : words.steps(steps)
      say(({ at }) => ({ text, at: at + 1 }))
    })
    announcer.current = own
    return () => own.close()
  }, [model, folder])
  useEffect(() => announcer.current?.take(items, isLive, waiting), [model, folder, items, isLive, waiting])
  return (
    <p class="vh" aria-live="polite" data-announces>
      {/* Repeated text is announced again only as a new element. */}
      <span key={said.at}>{said.text}</span>
    </p>
  )
}
