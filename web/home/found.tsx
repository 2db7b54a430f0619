import { useState } from 'preact/hooks'
import type { AgentHistory } from '../../lib/protocol/sealed/calls/machine-work.ts'
import { now } from '../core/clock.ts'
import { go } from '../core/router.ts'
import { HistoryRow } from '../histories/history-row.tsx'
import { live } from '../model/account/account.ts'
import { notConnected, type Trouble } from '../model/account/machine-call.ts'
import { continueConversation, readHistories } from '../model/histories.ts'
import { nameOfMachine } from '../model/machines.ts'
import { folderName } from '../model/sessions.ts'
import type { MachineView } from '../model/store.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { lists } from '../words/lists.ts'
import { ago } from '../words/time.ts'

/** Conversations started there without this app, which can be continued. */
export function Found({ machine }: { machine: MachineView }) {
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()
  const [chosen, choose] = useState<string>()
  const link = live.value
  const { last: found } = useAnswer(link && (() => readHistories(link, machine.id, mostFound)), [link, machine.id])
  if (found === undefined || found.length === 0) return null
  const goOn = (history: AgentHistory) =>
    run(async () => {
      if (!link) return setTrouble(notConnected)
      choose(history.id)
      const outcome = history.session ?? (await continueConversation(link, machine.id, history))
      if (typeof outcome === 'string') go({ name: 'session', id: outcome, view: [] })
      else setTrouble(outcome)
    })
  return (
    <section>
      <div class="sec">
        <h2>{lists.continueThere}</h2>
      </div>
      <ul class="found">
        {found.map(history => (
          <li key={`${history.agent} ${history.id}`}>
            <HistoryRow
              history={history}
              facts={
                isBusy && chosen === history.id
                  ? lists.continuing
                  : history.openIn === 'terminal'
                    ? lists.openInTerminal
                    : `${folderName(history.folder)} · ${ago(history.at, now.value)}`
              }
              onUse={() => void goOn(history)}
            />
          </li>
        ))}
      </ul>
      {trouble && <TroubleCard title={lists.notContinued} trouble={trouble} host={nameOfMachine(machine)} />}
    </section>
  )
}

const mostFound = 5
