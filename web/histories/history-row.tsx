import type { AgentHistory } from '../../lib/protocol/sealed/calls/machine-work.ts'
import { Icon } from '../ui/icons/icon.tsx'

/** A conversation stored by an agent. `facts` is shown below its title; one that is open in a terminal cannot be continued. */
export function HistoryRow(props: {
  history: Pick<AgentHistory, 'title' | 'openIn'>
  sentence?: string | undefined
  facts: string
  onUse(): void
}) {
  const { history, sentence, facts, onUse } = props
  return (
    <button class="irow" type="button" disabled={history.openIn === 'terminal'} onClick={onUse}>
      <Icon name="square-terminal" />
      <span>
        <b dir="auto">{history.title}</b>
        {sentence !== undefined && <small dir="auto">{sentence}</small>}
        <small>{facts}</small>
      </span>
      <Icon name="chevron-right" class="chev" />
    </button>
  )
}
