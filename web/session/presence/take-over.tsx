import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { hasDaemon } from '../../model/machines.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { readProcess } from '../../model/session/process.ts'
import { closeLayer } from '../../ui/behavior/layers.ts'
import { Sheet } from '../../ui/sheet.tsx'
import { visible } from '../../ui/visible-text.ts'
import { session as words } from '../../words/session.ts'

/** The session's shell commands, as reported by its machine; empty if no daemon reports them. */
export async function runningThere(id: string): Promise<readonly string[]> {
  const link = live.peek()
  const machine = home.peek().machines.get(home.peek().sessions.get(id)?.metadata?.machineId ?? '')
  if (link === undefined || machine === undefined || !hasDaemon(machine)) return []
  // A busy daemon does not block taking over.
  const late = new Promise<undefined>(resolve => setTimeout(resolve, withinMs))
  return (await Promise.race([readProcess(link, machine.id, id), late]))?.inShells ?? []
}

const withinMs = 3_000

/** Asks whether to end them. */
export function TakeOverSheet(props: { facts: SessionFacts; running: readonly string[]; onTake(): void; onClose(): void }) {
  const { facts, running } = props
  return (
    <Sheet title={words.takeOverTitle} onClose={props.onClose}>
      <p class="lead">{words.takeOverText(facts.agentShort, facts.host)}</p>
      <div class="said">
        <pre dir="ltr">{running.map(visible).join('\n')}</pre>
      </div>
      <div class="acts two">
        <button class="btn quiet lg" type="button" onClick={closeLayer}>
          {words.leaveThere}
        </button>
        <button
          class="btn danger lg"
          type="button"
          onClick={() => {
            props.onTake()
            closeLayer()
          }}
        >
          {words.takeOver}
        </button>
      </div>
    </Sheet>
  )
}
