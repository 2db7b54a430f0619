import { useState } from 'preact/hooks'
import type { AgentHistory } from '../../lib/protocol/sealed/calls/machine-work.ts'
import { now } from '../core/clock.ts'
import { go } from '../core/router.ts'
import { HistoryRow } from '../histories/history-row.tsx'
import { LinkCommand } from '../machines/link-command.tsx'
import { live } from '../model/account/account.ts'
import type { Trouble } from '../model/account/machine-call.ts'
import { home } from '../model/home.ts'
import { hasDaemon, nameOfMachine } from '../model/machines.ts'
import { folderName } from '../model/sessions.ts'
import type { MachineView } from '../model/store.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { homeWords } from '../words/home.ts'
import { words } from '../words/index.ts'
import { lists } from '../words/lists.ts'
import { ago } from '../words/time.ts'

// Home does not wait for the code that calls a machine.
const histories = () => import('../model/histories.ts')

/** Home before the first session. */
export function NothingYet() {
  const machine = [...home.value.machines.values()].find(({ metadata }) => metadata)
  if (machine?.metadata) {
    return (
      <>
        <Empty title={homeWords.ready(nameOfMachine(machine))} text={homeWords.readyText}>
          <ButtonLink look="primary" href="/new">
            {hasDaemon(machine) ? words.new.title : homeWords.howToStart}
          </ButtonLink>
        </Empty>
        {hasDaemon(machine) && <Found machine={machine} />}
      </>
    )
  }
  return (
    <Empty title={homeWords.empty} text={homeWords.emptyText}>
      <LinkCommand starts />
      <ButtonLink look="primary" href="/scan" icon="scan-line">
        {homeWords.scan}
      </ButtonLink>
      <ButtonLink look="text" href="/new">
        {homeWords.howToStart}
      </ButtonLink>
    </Empty>
  )
}

/** Conversations started there without this app, which can be continued. */
function Found({ machine }: { machine: MachineView }) {
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()
  const [chosen, choose] = useState<string>()
  const link = live.value
  const { last: found } = useAnswer(link && (async () => (await histories()).readHistories(link, machine.id, mostFound)), [
    link,
    machine.id
  ])
  if (found === undefined || found.length === 0) return null
  const goOn = (history: AgentHistory) =>
    run(async () => {
      // Not `notConnected`, whose file the first screen would load for it.
      if (!link) return setTrouble({ type: 'failed', why: 'not-connected', says: '' })
      choose(history.id)
      const outcome = history.session ?? (await (await histories()).continueConversation(link, machine.id, history))
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
