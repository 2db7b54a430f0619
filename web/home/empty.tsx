import { LinkCommand } from '../machines/link-command.tsx'
import { home } from '../model/home.ts'
import { hasDaemon, nameOfMachine } from '../model/machines.ts'
import { onUse } from '../ui/behavior/on-use.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { homeWords } from '../words/home.ts'
import { words } from '../words/index.ts'

// Home does not wait for the code that calls a machine.
const conversations = onUse(() => import('./found.tsx'))

/** Home before the first session. */
export function NothingYet() {
  const machine = [...home.value.machines.values()].find(({ metadata }) => metadata)
  if (machine?.metadata) {
    const { Found } = (hasDaemon(machine) && conversations.get()) || {}
    return (
      <>
        <Empty title={homeWords.ready(nameOfMachine(machine))} text={homeWords.readyText}>
          <ButtonLink look="primary" href="/new">
            {hasDaemon(machine) ? words.new.title : homeWords.howToStart}
          </ButtonLink>
        </Empty>
        {Found && <Found machine={machine} />}
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
