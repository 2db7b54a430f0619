import type { RuleTrial } from '../../../lib/protocol/sealed/decisions/rules.ts'
import { answeredLike, type OpenRequest } from '../../model/decisions/decisions.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { decide as words } from '../../words/decide.ts'
import { session } from '../../words/session.ts'
import { clockTime } from '../../words/time.ts'
import { AnsweredLine } from '../transcript/step-body.tsx'
import { subjectOf } from './subject.ts'

/** Beside a decision, if there is room: where it would run, and how similar ones were answered before. */
export function DecisionContext({ model, facts, request }: { model: SessionModel; facts: SessionFacts; request: OpenRequest }) {
  const { command, heading, directory, paths, diffs } = subjectOf(request, facts.path)
  const files = [...new Set([...diffs.map(({ path }) => path), ...paths])]
  const entries = useTrial(model, request)
  const here = answeredLike(request, model.answered.value)
  return (
    <>
      <h2>{words.sideRuns}</h2>
      <dl class="facts">
        <Fact name={heading} value={command === undefined ? files.map(visible).join('\n') : visible(command)} />
        <Fact name={session.facts.folder} value={directory ?? facts.path} />
        <Fact name={session.facts.branch} value={facts.branch} />
        <Fact name={session.facts.machine} value={facts.host} />
      </dl>
      <h2>{words.sideBefore}</h2>
      {entries !== undefined && entries.length > 0 ? (
        <ul>
          {entries.map(({ at, what, answer }, index) => (
            <li key={index} class="irow">
              <Icon name={answer === 'allowed' ? 'check' : 'x'} />
              <span>
                <code>{visible(what)}</code>
                <small>{session.at(answer === 'allowed' ? words.wasAllowed : words.wasDenied, clockTime(at, Date.now()))}</small>
              </span>
            </li>
          ))}
        </ul>
      ) : here.length > 0 ? (
        <ul>
          {here.map(answered => (
            <li key={answered.id} class="irow">
              <span>
                <code>{visible(subjectOf(askedOf(answered), facts.path).command ?? answered.title ?? answered.tool)}</code>
                <AnsweredLine answered={answered} me={model.me} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p class="hint">{words.sideNone}</p>
      )}
    </>
  )
}

function Fact({ name, value }: { name: string; value: string | undefined }) {
  if (value === undefined || value === '') return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </div>
  )
}

function askedOf({ id, tool, args, title }: ReturnType<typeof answeredLike>[number]): OpenRequest {
  return { id, tool, arguments: args, createdAt: 0, ...(title !== undefined && { title }) }
}

/** Similar decisions recorded by the machine; undefined if it does not report them. */
function useTrial(model: SessionModel, { id, suggestedRule }: OpenRequest): RuleTrial['entries'] | undefined {
  const { value: trial } = useAnswer(suggestedRule && (() => model.tryRule(suggestedRule)), [model, id])
  return trial?.entries.filter(({ answer }) => answer !== 'ended').slice(0, mostShown)
}

const mostShown = 8
