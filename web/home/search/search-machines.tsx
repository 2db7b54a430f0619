import { useEffect, useState } from 'preact/hooks'
import type { ResultOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { now } from '../../core/clock.ts'
import { go } from '../../core/router.ts'
import { pathOf } from '../../core/routes.ts'
import { live } from '../../model/account/account.ts'
import { continueConversation, searchHistories } from '../../model/histories.ts'
import { home } from '../../model/home.ts'
import { nameOfMachine } from '../../model/machines.ts'
import { folderName } from '../../model/sessions.ts'
import type { MachineView } from '../../model/store.ts'
import { useBusy } from '../../ui/behavior/busy.ts'
import { lists as words } from '../../words/lists.ts'
import { clockTime } from '../../words/time.ts'
import { Excerpt } from './excerpt.tsx'

type Hits = ResultOfMachineCall<'search-histories'>
type MachineHit = Hits['hits'][number]

/** Matches of a machine in the conversations that its agents store; `undefined` if it did not answer. */
interface FoundThere {
  readonly machine: MachineView
  readonly hits: Hits | undefined
}

/** Searches machines; results belong to their query. */
export function useMachineSearch(query: string) {
  const [found, setFound] = useState<readonly FoundThere[]>([])
  const { isBusy, run } = useBusy()
  const link = live.value
  useEffect(() => setFound([]), [query])
  return {
    found,
    isBusy,
    look: (machines: readonly MachineView[]) =>
      run(async () => {
        const results = await Promise.all(
          machines.map(async machine => {
            const hits = link && (await searchHistories(link, machine.id, query.trim()))
            return { machine, hits: hits && 'hits' in hits ? hits : undefined }
          })
        )
        setFound(results)
      })
  }
}

export function MachineHits({ found, sought }: { found: readonly FoundThere[]; sought: readonly string[] }) {
  return (
    <>
      {found.map(({ machine, hits }) => {
        const host = nameOfMachine(machine)
        return (
          <section key={machine.id}>
            <div class="sec">
              <h2>{words.searchMachines(host)}</h2>
              {hits && <span class="count">{hits.hits.length}</span>}
            </div>
            {hits ? (
              <>
                {hits.hits.length === 0 && <p class="note">{words.lookNothing(host)}</p>}
                <ul class="hits">
                  {hits.hits.map((hit, index) => (
                    <li key={`${hit.id} ${index}`}>
                      <ConversationHit hit={hit} machine={machine} sought={sought} />
                    </li>
                  ))}
                </ul>
                {!hits.isComplete && <p class="note">{words.lookPartly(host)}</p>}
              </>
            ) : (
              <p class="note">{words.lookFailed(host)}</p>
            )}
          </section>
        )
      })}
    </>
  )
}

/** Opens the session with the conversation, or starts one that continues it. */
function ConversationHit({ hit, machine, sought }: { hit: MachineHit; machine: MachineView; sought: readonly string[] }) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const link = live.value
  const inner = (
    <>
      <b dir="auto">{hit.title}</b>
      <Excerpt text={hit.sentence} sought={sought} />
      <small>
        {isBusy
          ? words.continuing
          : hasFailed
            ? words.notContinued
            : hit.openIn === 'terminal'
              ? words.openInTerminal
              : folderName(hit.folder) + words.comma + clockTime(hit.at, now.value)}
      </small>
    </>
  )
  if (hit.session !== undefined && home.value.sessions.has(hit.session)) {
    return (
      <a class="hit" href={pathOf({ name: 'session', id: hit.session, view: [] })}>
        {inner}
      </a>
    )
  }
  const goOn = () =>
    run(async () => {
      const outcome = link && (await continueConversation(link, machine.id, hit))
      if (typeof outcome === 'string') go({ name: 'session', id: outcome, view: [] })
      else setFailed(true)
    })
  return (
    <button class="hit" type="button" disabled={hit.openIn === 'terminal'} onClick={() => void goOn()}>
      {inner}
    </button>
  )
}
