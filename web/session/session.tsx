import { computed } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import { go } from '../core/router.ts'
import { home, markSeen } from '../model/home.ts'
import { lookAt } from '../model/session/absence.ts'
import { unarchiveOnMessage } from '../model/session/actions.ts'
import { factsIn } from '../model/session/facts.ts'
import { Lazy } from '../ui/lazy.tsx'
import { session as words } from '../words/session.ts'
import { SessionBar } from './bar.tsx'
import type { Offered } from './composer/composer.tsx'
import { deleted, folder } from './lazy-parts.ts'
import { SessionEmpty } from './log/empty.tsx'
import { useSessionModel } from './model.ts'
import { rich } from './text/lazy-rich.ts'
import { OpenSession } from './view.tsx'

/** A session, by its id. `view` is the path after the id in the address: its changes, files and commits open over the conversation. */
export function SessionScreen({ id, view }: { id: string; view: readonly string[] }) {
  const { link, session, model } = useSessionModel(id)
  const opened = folder.get()
  const work = useMemo(
    () =>
      opened &&
      model &&
      link &&
      opened.openWork({
        id,
        live: link,
        model,
        isLinked: computed(() => !isStale.value),
        folder: () => session.peek()?.metadata?.path ?? '',
        methods: () => session.value?.metadata?.methods
      }),
    [model, opened]
  )
  useEffect(() => () => work?.close(), [work])
  const subagent = view[0] === 'sub' ? view[1] : undefined
  const isCovered = subagent !== undefined || workViews.includes(view[0] ?? '')
  const covered = useCovered(id, isCovered)
  const [offered, offer] = useState<Offered>()
  useEffect(() => lookAt(id), [id])
  // Sending a message from here unarchives the session.
  useEffect(() => link?.onStored((_, stored) => void (stored === id && unarchiveOnMessage(link, id))), [link, id])

  const known = session.value
  const wasKnown = useRef(false)
  wasKnown.current ||= known !== undefined
  if (known === undefined) {
    const isCertain = home.value.asOf !== undefined && !isStale.value
    const { Deleted } = (wasKnown.current && deleted.get()) || {}
    const title = wasKnown.current ? words.deletedTitle : words.unknownTitle
    return (
      <section class="screen chat">
        <SessionBar facts={undefined} title={isCertain ? title : ''} />
        {isCertain && (wasKnown.current ? Deleted && <Deleted id={id} /> : <SessionEmpty title={title} text={words.unknownHint} />)}
      </section>
    )
  }
  // The code to draw it is loaded with its first message, so that its height does not change afterwards.
  if (model === undefined || rich.get() === undefined) {
    return (
      <section class="screen chat">
        <SessionBar facts={factsIn(known, home.value)} isStale={isStale.value} />
        <div class="horizon" aria-hidden="true" />
      </section>
    )
  }
  const facts = model.facts.value
  const mention = (text: string) => {
    void model.texts.readDraft().then(draft => {
      offer({ text: draft === '' || /\s$/.test(draft) ? draft + text : `${draft} ${text}`, isAll: true })
      go({ name: 'session', id, view: [] })
    })
  }
  return (
    <>
      {subagent !== undefined && facts && (
        <div class="work-over">
          <Lazy
            key="subagent"
            load={() => import('./log/subagent.tsx')}
            show={({ SubagentScreen }) => <SubagentScreen model={model} facts={facts} id={subagent} />}
          />
        </div>
      )}
      {isCovered && subagent === undefined && work && facts && (
        <div class="work-over">
          <Lazy
            key="work"
            load={() => import('./work/work.tsx')}
            show={({ WorkScreen }) => <WorkScreen model={model} work={work} facts={facts} view={view} onMention={mention} />}
          />
        </div>
      )}
      <div class={`work-under ${isCovered ? 'is-covered' : ''}`} inert={isCovered}>
        <OpenSession model={model} work={work} offered={offered} onSeen={covered.onSeen} />
      </div>
    </>
  )
}

const workViews = ['changes', 'files', 'log']

/** Messages that arrive while the conversation is covered are unread until it is visible again. */
function useCovered(id: string, isCovered: boolean): { onSeen(seq: number): void } {
  const unseen = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (isCovered || unseen.current === undefined) return
    markSeen(id, unseen.current)
    unseen.current = undefined
  }, [id, isCovered])
  return {
    onSeen(seq) {
      if (isCovered) unseen.current = seq
      else markSeen(id, seq)
    }
  }
}
