import { useEffect, useId, useState } from 'preact/hooks'
import { answerText, type Question, type QuestionAnswer, readNumber } from '../../../../lib/protocol/sealed/decisions/questions.ts'
import { isOn } from '../../../core/preferences.ts'
import type { Answers } from '../../../model/decisions/questions.ts'
import { useInert } from '../../../ui/behavior/inert.ts'
import { isCovered } from '../../../ui/behavior/layers.ts'
import { Icon } from '../../../ui/icons/icon.tsx'
import { visible } from '../../../ui/visible-text.ts'
import { decide as words } from '../../../words/decide.ts'
import { session } from '../../../words/session.ts'
import { AnswerLife, failureWords } from '../answer-state.tsx'
import { AskDock, type QuestionProps } from './ask-dock.tsx'
import { CustomAnswer } from './custom-answer.tsx'
import { LinkQuestion } from './link.tsx'

/** A question of the agent, in place of the composer. */
export function QuestionDock(props: QuestionProps) {
  const { question } = props
  return question.type === 'link' ? <LinkQuestion {...props} url={question.url} /> : <Form {...props} questions={question.questions} />
}

function Form(props: QuestionProps & { questions: readonly Question[] }) {
  const { questions, facts, mine } = props
  const [at, setAt] = useState(0)
  /** One answered question is being changed: the others stay as they are. */
  const [isChanging, setChanging] = useState(false)
  const [answers, setAnswers] = useState<Answers>({})
  const title = useId()
  const asked = questions[at]
  const isSent = mine !== undefined && mine.type !== 'failed'
  const change = (index: number) => {
    setChanging(true)
    setAt(index)
  }
  const goTo = (index: number) => {
    setChanging(false)
    setAt(index)
  }
  const answer = (id: string, to: QuestionAnswer) => setAnswers({ ...answers, [id]: to })
  return (
    <AskDock
      {...props}
      titleId={title}
      hasParts={questions.length > 1}
      above={aboveOf(asked, words.asks(facts.agentShort, at + 1, asked ? questions.length : 1), questions.length === 1)}
      title={asked === undefined ? words.review : visible(asked.question)}
    >
      <div class="dock-b">
        {asked === undefined ? (
          <Review questions={questions} answers={answers} onChange={change} />
        ) : (
          <Choices key={asked.id} question={asked} answer={answers[asked.id]} onAnswer={to => answer(asked.id, to)} />
        )}
      </div>
      {isSent ? (
        <footer class="dock-f">
          <AnswerLife life={mine} facts={facts} onWithdraw={() => props.onWithdraw?.()} />
        </footer>
      ) : (
        <FormButtons
          {...props}
          at={at}
          answers={clean(answers)}
          lacks={asked && lackOf(asked, answers[asked.id], questions.length === 1)}
          isChanging={isChanging}
          onAt={goTo}
        />
      )}
    </AskDock>
  )
}

/** Claude Code gives each question a word or two of its own, such as "Database". */
function aboveOf(asked: Question | undefined, whoAsks: string, isOnly: boolean): string {
  // A single question cannot be skipped: there would be nothing to send.
  const isOptional = asked?.isRequired === false && !isOnly
  const parts = [whoAsks, asked?.header && visible(asked.header), isOptional && words.optional]
  return parts.filter(Boolean).join(' · ')
}

function FormButtons(
  props: QuestionProps & {
    questions: readonly Question[]
    at: number
    answers: Answers
    lacks: string | undefined
    isChanging: boolean
    onAt(at: number): void
  }
) {
  const { questions, question, facts, mine, at, answers, lacks, isChanging } = props
  // An answer is bound to what was shown, and rejected if that has changed.
  const isCurrent = props.isCurrent || props.isOffline === true
  const isInert = useInert(`${question.id} ${question.shown ?? ''} ${at}`)
  const asked = questions[at]
  const isLast = questions.length === 1 || asked === undefined
  const why = useId()
  const go = () => {
    if (isInert || !isCurrent || lacks !== undefined) return
    if (isLast) props.onAnswer(answers)
    else props.onAt(isChanging ? questions.length : at + 1)
  }
  return (
    <footer class="dock-f">
      {mine?.type === 'failed' && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{failureWords(mine, facts)}</span>
        </p>
      )}
      <div class="acts two">
        {at === 0 ? (
          <button class="btn quiet lg" type="button" disabled={!isCurrent} onClick={() => !isInert && props.onAnswer(undefined)}>
            {words.letDecide}
          </button>
        ) : (
          <button class="btn quiet lg" type="button" onClick={() => props.onAt(at - 1)}>
            {words.before}
          </button>
        )}
        <button class="btn primary lg" type="button" disabled={!isCurrent || lacks !== undefined} aria-describedby={why} onClick={go}>
          {isLast ? (questions.length === 1 ? words.sendAnswer : words.sendAnswers) : isChanging ? words.done : words.next}
          {!isLast && !isChanging && <Icon name="arrow-right" />}
        </button>
      </div>
      <p class="dock-s" id={why}>
        {lacks !== undefined
          ? lacks
          : props.isOffline
            ? words.offline
            : !isCurrent
              ? session.stillOpen
              : questions.length > 1
                ? words.together
                : words.waitsForAnswer}
      </p>
    </footer>
  )
}

/** One question with its answers, none of them preselected. Keys 1 to 9 choose. */
function Choices({
  question,
  answer = { values: [] },
  onAnswer
}: {
  question: Question
  answer: QuestionAnswer | undefined
  onAnswer(answer: QuestionAnswer): void
}) {
  const { options, multiSelect, allowsOther } = question
  const name = useId()
  const hasOwn = answer.other !== undefined
  const toggle = (value: string) => {
    if (!multiSelect) return onAnswer({ values: [value] })
    const isOn = answer.values.includes(value)
    onAnswer({ ...answer, values: isOn ? answer.values.filter(each => each !== value) : [...answer.values, value] })
  }
  const toggleOwn = () => {
    const { other: _, ...rest } = answer
    onAnswer(hasOwn ? rest : multiSelect ? { ...answer, other: '' } : { values: [], other: '' })
  }
  useDigits(digit => {
    const option = options[digit - 1]
    if (option !== undefined) toggle(option.value)
    else if (allowsOther && digit === options.length + 1) toggleOwn()
  })
  if (options.length === 0)
    return <CustomAnswer question={question} value={answer.other ?? ''} onInput={other => onAnswer({ values: [], other })} />
  return (
    <fieldset class="opts" aria-label={multiSelect ? words.chooseAny : words.chooseOne}>
      {multiSelect && <legend>{words.chooseAny}</legend>}
      {options.map(({ value, label, description }) => (
        <label key={value} class="opt">
          <input
            type={multiSelect ? 'checkbox' : 'radio'}
            name={name}
            checked={answer.values.includes(value)}
            onChange={() => toggle(value)}
          />
          <span dir="auto">
            <b>{visible(label)}</b>
            {description !== undefined && description !== '' && <small>{visible(description)}</small>}
          </span>
        </label>
      ))}
      {allowsOther && (
        <label class="opt">
          <input type={multiSelect ? 'checkbox' : 'radio'} name={name} checked={hasOwn} onChange={toggleOwn} />
          <span>
            <b>{words.other}</b>
          </span>
        </label>
      )}
      {hasOwn && <CustomAnswer question={question} value={answer.other ?? ''} onInput={other => onAnswer({ ...answer, other })} hasFocus />}
    </fieldset>
  )
}

function Review({ questions, answers, onChange }: { questions: readonly Question[]; answers: Answers; onChange(at: number): void }) {
  return (
    <dl class="answers">
      {questions.map((question, index) => (
        <div key={question.id}>
          <dt dir="auto">{visible(question.question)}</dt>
          <dd dir="auto">
            {answerText(question, clean(answers)[question.id]) || words.notAnswered}
            <button class="txt" type="button" onClick={() => onChange(index)}>
              {words.change}
              <span class="vh">: {visible(question.question)}</span>
            </button>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Why the answer cannot be sent yet: there is none, "Something else" was chosen but is empty, or the text is not a number. */
function lackOf({ options, number, isRequired }: Question, answer: QuestionAnswer | undefined, isOnly: boolean): string | undefined {
  const own = answer?.other?.trim()
  if (own === '' && options.length > 0) return words.unsaid
  if (own && number && readNumber(own, number) === undefined) return words.noNumber
  const isOpen = !own && !answer?.values.length
  return isOpen && (isRequired || isOnly) ? words.answerFirst : undefined
}

/** Without answers that were started and left empty. */
function clean(answers: Answers): Answers {
  return Object.fromEntries(
    Object.entries(answers).flatMap(([id, { values, other }]): [string, QuestionAnswer][] => {
      const own = other?.trim() ?? ''
      if (values.length === 0 && own === '') return []
      return [[id, { values, ...(own !== '' && { other: own }) }]]
    })
  )
}

function useDigits(choose: (digit: number) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isWriting = event.target instanceof HTMLElement && event.target.matches('textarea, input:not([type=radio], [type=checkbox])')
      if (isWriting || isCovered() || !isOn('singleKeys') || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key))
        return
      // The field for an own answer opens with the focus, and would take the digit as its text.
      event.preventDefault()
      choose(Number(event.key))
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}
