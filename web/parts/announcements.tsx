import { useEffect, useRef, useState } from 'preact/hooks'
import { createAnnouncer } from '../state/announcing.ts'
import { isOn } from '../state/preferences.ts'
import type { SessionModel } from '../state/session.ts'
import { lists as words } from '../words/lists.ts'
import { wordsOf } from './step-words.ts'

/** Reads out, politely, how many steps there were and what goes on. It shows nothing. */
export function Announcements({ model, folder }: { model: SessionModel; folder: string | undefined }) {
  const [said, say] = useState({ text: '', at: 0 })
  const announcer = useRef<ReturnType<typeof createAnnouncer>>(undefined)
  const { items } = model.transcript.value
  const isLive = model.feed.value === 'live' && isOn('announces')
  useEffect(() => {
    const own = createAnnouncer(({ steps, running }) => {
      const now = running && wordsOf(running, 'running', folder)
      const text = now ? words.stepsNow(steps, now.verb, now.object) : words.steps(steps)
      say(({ at }) => ({ text, at: at + 1 }))
    })
    announcer.current = own
    return () => own.close()
  }, [model, folder])
  useEffect(() => announcer.current?.take(items, isLive), [model, folder, items, isLive])
  return (
    <p class="vh" aria-live="polite" data-announces>
      {/* The same words once more are read out only as a piece of their own. */}
      <span key={said.at}>{said.text}</span>
    </p>
  )
}
