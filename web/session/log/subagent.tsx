import { useMemo } from 'preact/hooks'
import { pathOf } from '../../core/routes.ts'
import { useTicking } from '../../core/ticking.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { blocksOf } from '../../model/transcript/blocks.ts'
import { itemsOfSubagent } from '../../model/transcript/subagent.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { lists } from '../../words/lists.ts'
import { session as words } from '../../words/session.ts'
import { duration } from '../../words/time.ts'
import type { StepContext } from '../transcript/step.tsx'
import { BlockView } from './block.tsx'

/** The work of a subagent of a session, from its first step. */
export function SubagentScreen({ model, facts, id }: { model: SessionModel; facts: SessionFacts; id: string }) {
  const transcript = model.transcript.value
  const requests = model.requests.value
  const answered = model.answered.value
  const step = transcript.items.find(item => item.type === 'step' && item.inner !== undefined && item.call === id)
  const known = step?.type === 'step' ? step : undefined
  const blocks = useMemo(() => blocksOf(itemsOfSubagent(transcript.messages, id, known)), [transcript.messages, id, known])
  const context = useMemo<StepContext>(
    () => ({
      folder: facts.path,
      waiting: new Set(requests.flatMap(request => request.toolUseId ?? [])),
      answered: new Map(answered.flatMap(each => (each.call === undefined ? [] : [[each.call, each] as const]))),
      me: model.me
    }),
    [facts.path, requests, answered, model.me]
  )
  const isRunning = known?.state === 'running'
  const at = useTicking(isRunning)
  const took = known && duration((known.endedAt ?? (isRunning ? at : known.at)) - known.at)
  const to = { host: facts.host, agent: facts.agentShort, tells: facts.hasReceipts }
  return (
    <section class="screen work" aria-label={words.subagent}>
      <header class="bar">
        <a class="ib back keep" href={pathOf({ name: 'session', id: facts.id, view: [] })} data-back aria-label={words.subagentBack}>
          <Icon name="chevron-left" />
        </a>
        <div class="bar-t">
          <h1 tabIndex={-1} dir="auto">
            {known?.title || words.subagent}
          </h1>
          {known && <p>{[words.innerSteps(known.inner?.steps ?? 0), took].join(lists.comma)}</p>}
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <div class="scroll" tabIndex={0}>
        <div class="col">
          {blocks.map(block => (
            <BlockView key={block.key} block={block} context={context} to={to} delivery="read" isNewest={false} isNews={false} />
          ))}
          {blocks.length === 0 && <p class="lead">{known ? words.subagentBegins : words.subagentNotHere}</p>}
        </div>
      </div>
    </section>
  )
}
