import { signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { isPlan, type Verdict } from '../../model/decisions/answers.ts'
import { noteClosed } from '../../model/decisions/closed-decisions.ts'
import type { OpenRequest } from '../../model/decisions/decisions.ts'
import { type Waiting, waitingOf } from '../../model/decisions/waiting.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import type { Transcript } from '../../model/transcript/transcript.ts'
import { toast } from '../../ui/toast.ts'
import { decide } from '../../words/decide.ts'
import { rich } from '../text/lazy-rich.ts'
import { DecisionDock } from './dock.tsx'
import { QuestionDock } from './question/question.tsx'
import { subjectOf } from './subject.ts'

export { Notices } from './notices.tsx'

const shownNow = signal<string | undefined>(undefined)

/** The request being read. */
export function shownOf(waiting: readonly Waiting[]): Waiting | undefined {
  return waiting.find(({ id }) => id === shownNow.value) ?? waiting[0]
}

/** One decision at a time, oldest first; a new one never replaces the one being read. */
export function Decisions(props: {
  model: SessionModel
  facts: SessionFacts
  waiting: readonly Waiting[]
  isCurrent: boolean
  /** A text that was written here and could not be sent. */
  onUnsent(text: string): void
}) {
  const { model, facts, waiting } = props
  const [chosen, choose] = useState<string>()
  const found = waiting.findIndex(each => each.id === chosen)
  const index = Math.max(0, found)
  const asked = waiting[index]
  useEffect(() => {
    shownNow.value = asked?.id
    // The one being read does not vanish without a notice.
    return () => asked && noteIfOver(model, asked)
  }, [model, asked?.id])
  const edited = useMemo(() => editedIn(model.transcript.value), [model.transcript.value.items])
  // A request that is not drawn cannot be decided.
  if (asked === undefined || rich.get() === undefined) return null
  const onNext = () => choose(waiting[(index + 1) % waiting.length]?.id)
  const place = { facts, index: index + 1, count: waiting.length, isCurrent: props.isCurrent, onNext }
  if (asked.type === 'question') {
    const { question } = asked
    return (
      <QuestionDock
        key={question.id}
        {...place}
        question={question}
        mine={model.questionStates.value.get(question.id)}
        isOffline={!props.isCurrent && model.isOffline.value}
        onAnswer={answers => void model.answerQuestion(question, answers)}
        onWithdraw={() => model.withdraw(question.id)}
      />
    )
  }
  const { request } = asked
  return (
    <DecisionDock
      key={request.id}
      {...place}
      request={request}
      mine={model.lives.value.get(request.id)}
      isOffline={!props.isCurrent && model.isOffline.value}
      edited={edited}
      onAnswer={verdict => {
        void model.answer(request, verdict, subjectOf(request, facts.path, edited).risk.level === 'risky')
        sendReason(props, request, verdict)
      }}
      onWithdraw={() => model.withdraw(request.id)}
      onTry={model.tryRule}
    />
  )
}

/** Merely moving on to another request shows no notice. */
function noteIfOver(model: SessionModel, asked: Waiting): void {
  const { id } = asked
  const open = waitingOf(model.requests.peek(), model.questions.peek())
  const isOpen = open.some(each => each.id === id)
  const isMine = model.lives.peek().has(id) || model.questionStates.peek().has(id)
  if (!isOpen && !isMine)
    noteClosed({ session: model.id, asked, at: Date.now(), beside: [...open, ...model.answered.peek()].map(each => each.id) })
}

/** Happy's wrapper does not forward the reason for denying a plan, so it is sent to the agent as a message. Ours does. */
function sendReason({ model, facts, onUnsent }: Parameters<typeof Decisions>[0], request: OpenRequest, { kind, reason }: Verdict): void {
  const isOurs = facts.methods !== undefined
  if (isOurs || !isPlan(request) || kind !== 'deny' || !reason) return
  model.texts.send(reason).catch(() => {
    toast(decide.reasonNotSent)
    onUnsent(reason)
  })
}

/** Files that the agent changed, as far as this device knows. */
function editedIn({ items }: Transcript): string[] {
  return items.flatMap(item => {
    if (item.type !== 'step' || item.state !== 'ok' || !['edit', 'delete', 'move'].includes(item.kind)) return []
    return [...item.locations, ...item.content.flatMap(each => (each.type === 'diff' ? [each.path] : []))]
  })
}
