import type { PlanEntry } from '../../../lib/protocol/sealed/messages.ts'
import type { Answered } from '../../model/decisions/decisions.ts'
import type { Looked, TrailRow } from '../../model/transcript/blocks.ts'
import { commandOf, contentOfArgs, kindOf } from '../../model/transcript/steps.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { decide } from '../../words/decide.ts'
import { session as words } from '../../words/session.ts'
import { duration } from '../../words/time.ts'
import { Markdown } from '../text/markdown.tsx'
import { Foldable, type StepContext, StepRow } from './step.tsx'
import { AnsweredLine, isYes } from './step-body.tsx'
import { stepWordsOf } from './step-words.ts'

/** Steps, plans and thoughts on one thin line. */
export function Trail({ rows, context }: { rows: readonly TrailRow[]; context: StepContext }) {
  return (
    <ol class="trail">
      {rows.map(row => (
        <Row key={row.key} row={row} context={context} />
      ))}
    </ol>
  )
}

function Row({ row, context }: { row: TrailRow; context: StepContext }) {
  switch (row.type) {
    case 'step':
      return <StepRow step={row} context={context} />
    case 'looked':
      return <LookedRow looked={row} context={context} />
    case 'plan':
      return <PlanRow entries={row.entries} />
    case 'thinking':
      return (
        <Foldable
          look="ok"
          icon="brain"
          title={row.tookMs === undefined ? words.thought : words.thoughtFor(duration(row.tookMs))}
          isOpen={false}
          body={() => (
            <div class="thought">
              <Markdown text={row.text} />
            </div>
          )}
        />
      )
    case 'decision': {
      const { answered } = row
      if (answered.said !== undefined) return <AnsweredQuestion answered={answered} context={context} />
      const args = typeof answered.args === 'object' && answered.args !== null ? { ...answered.args } : {}
      const kind = kindOf(answered.tool)
      const title = answered.title ?? ''
      const wording = stepWordsOf(
        { kind, name: answered.tool, title, description: '', args, locations: [], content: contentOfArgs(answered.tool, args) },
        'wants',
        context.folder
      )
      const isAllowed = isYes(answered)
      return (
        <Foldable
          look={isAllowed ? 'ok' : 'no'}
          icon={wording.icon}
          title={
            <>
              {isAllowed ? decide.wasAllowed : words.deniedStep} <code>{wording.object}</code>
            </>
          }
          hover={wording.whole}
          isOpen
          body={() => (
            <>
              {commandOf(args) !== undefined && (
                <pre class="cmd">
                  <code>{commandOf(args)}</code>
                </pre>
              )}
              <AnsweredLine answered={answered} me={context.me} />
            </>
          )}
        />
      )
    }
  }
}

function AnsweredQuestion({ answered, context }: { answered: Answered; context: StepContext }) {
  return (
    <Foldable
      look={answered.said?.text === undefined ? 'no' : 'ok'}
      icon="message-circle-question-mark"
      title={visible(answered.title ?? '')}
      isOpen
      body={() => <AnsweredLine answered={answered} me={context.me} />}
    />
  )
}

function LookedRow({ looked, context }: { looked: Looked; context: StepContext }) {
  const took = looked.tookMs < 1000 ? undefined : duration(looked.tookMs)
  return (
    <Foldable
      look="ok"
      icon="search-code"
      title={words.looked}
      meta={took === undefined ? words.innerSteps(looked.steps) : words.lookedMeta(looked.steps, took)}
      isOpen={false}
      body={() => <Trail rows={looked.rows} context={context} />}
    />
  )
}

function PlanRow({ entries }: { entries: readonly PlanEntry[] }) {
  const done = entries.filter(entry => entry.status === 'completed').length
  return (
    <Foldable
      look="ok"
      icon="list-checks"
      title={words.plan}
      meta={words.planMeta(done, entries.length)}
      isOpen={false}
      body={() => <PlanList entries={entries} />}
    />
  )
}

/** Done, current and open entries, distinguished by shape. */
export function PlanList({ entries }: { entries: readonly PlanEntry[] }) {
  return (
    <ol class="todo">
      {entries.map((entry, index) => {
        const isNow = entry.status === 'in_progress'
        const state = entry.status === 'completed' ? words.planDone : isNow ? words.planNow : words.planOpen
        return (
          <li key={index} class={entry.status} aria-current={isNow ? 'step' : undefined}>
            <Icon name={entry.status === 'completed' ? 'check' : isNow ? 'chevron-right' : 'circle'} />
            <span class="vh">{state}: </span>
            <span dir="auto">{entry.content}</span>
          </li>
        )
      })}
    </ol>
  )
}
