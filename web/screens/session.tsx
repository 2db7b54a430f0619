import { computed } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { account, live } from '../state/account.ts'
import { isStale } from '../state/connection.ts'
import { home, markSeen, sessionOf } from '../state/home.ts'
import { openSession } from '../state/session.ts'
import { factsOf } from '../state/session-facts.ts'
import { session as words } from '../words/session.ts'
import { SessionBar } from './session-bar.tsx'
import { SessionEmpty } from './session-empty.tsx'
import { SessionView } from './session-view.tsx'

/** A session, by its id. `view` is what follows the id in the address; there is nothing behind it yet. */
export function SessionScreen({ id }: { id: string; view: readonly string[] }) {
  const link = live.value
  const here = account.value
  const me = here.type === 'here' ? here.deviceName : undefined
  const session = useMemo(() => sessionOf(id), [id])
  const machine = useMemo(() => computed(() => home.value.machines.get(session.value?.metadata?.machineId ?? '')), [session])
  const model = useMemo(
    () => link && openSession({ id, live: link, session, machine, isLinked: computed(() => !isStale.value), me }),
    [id, link, session, machine, me]
  )
  useEffect(() => () => model?.close(), [model])

  const known = session.value
  const wasKnown = useRef(false)
  wasKnown.current ||= known !== undefined
  if (known === undefined) {
    const isCertain = home.value.asOf !== undefined && !isStale.value
    const [title, text] = wasKnown.current ? [words.deletedTitle, words.deletedHint] : [words.unknownTitle, words.unknownHint]
    return (
      <section class="screen chat">
        <SessionBar facts={undefined} title={isCertain ? title : ''} />
        {isCertain && <SessionEmpty title={title} text={text} />}
      </section>
    )
  }
  if (model === undefined) {
    return (
      <section class="screen chat">
        <SessionBar facts={factsOf(known, machine.value)} isStale={isStale.value} />
        <div class="horizon" aria-hidden="true" />
      </section>
    )
  }
  return <SessionView model={model} onSeen={seq => markSeen(id, seq)} />
}
