import { useState } from 'preact/hooks'
import type { AgentHistory } from '../../lib/protocol/sealed/calls/machine-work.ts'
import { now } from '../core/clock.ts'
import type { Live } from '../model/account/live.ts'
import type { Trouble } from '../model/account/machine-call.ts'
import { continueConversation, searchHistories } from '../model/histories.ts'
import { folderName } from '../model/sessions.ts'
import { useMachineAnswer } from '../session/machine/machine-answer.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { start as words } from '../words/start.ts'
import { ago } from '../words/time.ts'
import { HistoryRow } from './history-row.tsx'

const mostShown = 30

type Hit = AgentHistory & { sentence?: string }
interface Found {
  hits: readonly Hit[]
  isComplete: boolean
}

/** The conversations stored by the agents of a machine, with a search; any of them can be continued as a session. */
export function HistoriesSheet(props: {
  link: Live
  machine: string
  host: string
  onSession(id: string): Promise<void>
  onClose(): void
}) {
  const { link, machine, host } = props
  const { answer } = useMachineAnswer(machine, 'agent-histories', { limit: mostShown })
  const [typed, setTyped] = useState('')
  const [found, setFound] = useState<Found>()
  const [trouble, setTrouble] = useState<Trouble>()
  const [chosen, choose] = useState<string>()
  const searching = useBusy()
  const goingOn = useBusy()

  const search = () =>
    searching.run(async () => {
      setTrouble(undefined)
      if (typed.trim() === '') return setFound(undefined)
      const answer = await searchHistories(link, machine, typed.trim())
      if (!('hits' in answer)) return setTrouble(answer)
      setFound(answer)
    })
  const goOn = (history: AgentHistory) =>
    goingOn.run(async () => {
      setTrouble(undefined)
      choose(history.id)
      const outcome = history.session ?? (await continueConversation(link, machine, history))
      if (typeof outcome !== 'string') return setTrouble(outcome)
      await props.onSession(outcome)
    })

  const shown: readonly Hit[] = found?.hits ?? (answer?.type === 'answered' ? answer.result.histories : [])
  return (
    <Sheet title={words.goOnTitle} onClose={props.onClose}>
      <form
        class="form tight-form"
        onSubmit={event => {
          event.preventDefault()
          event.stopPropagation()
          void search()
        }}
      >
        <Field label={words.search} value={typed} onInput={setTyped} maxLength={500} />
        <Button look="quiet" type="submit" isWide icon="search" busy={searching.isBusy && words.searching}>
          {words.searchDo}
        </Button>
      </form>
      {answer === undefined && <p role="status">{words.searching}</p>}
      {answer?.type === 'failed' && <TroubleCard title={words.notAsked(host)} trouble={answer} host={host} />}
      {trouble && <TroubleCard title={words.notGoneOn} trouble={trouble} host={host} />}
      {found && shown.length === 0 && <p class="lead">{words.noneFound}</p>}
      {!found && answer?.type === 'answered' && shown.length === 0 && <p class="lead">{words.noHistories(host)}</p>}
      {found && !found.isComplete && <p class="hint">{words.notAll}</p>}
      {shown.length > 0 && (
        <ul class="card tight">
          {shown.map(history => (
            <li key={`${history.agent} ${history.id}`}>
              <HistoryRow
                history={history}
                sentence={history.sentence}
                facts={
                  goingOn.isBusy && chosen === history.id
                    ? words.goingOn
                    : history.openIn === 'terminal'
                      ? words.inTerminal
                      : [history.agent, folderName(history.folder), ago(history.at, now.value)].join(' · ')
                }
                onUse={() => void goOn(history)}
              />
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  )
}
