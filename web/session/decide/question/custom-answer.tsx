import { useId } from 'preact/hooks'
import { type NumberWanted, type Question, readNumber } from '../../../../lib/protocol/sealed/decisions/questions.ts'
import { decide as words } from '../../../words/decide.ts'

/** A custom answer: a text, or the requested number. */
export function CustomAnswer(props: OwnProps) {
  const { question, value, onInput, hasFocus = false } = props
  if (question.number) return <OwnNumber {...props} wanted={question.number} />
  return (
    <textarea
      class="deny-t"
      rows={2}
      dir="auto"
      value={value}
      aria-label={words.otherLabel}
      placeholder={words.otherLabel}
      ref={element => {
        if (hasFocus && value === '') element?.focus()
      }}
      onInput={event => onInput(event.currentTarget.value)}
    />
  )
}

/** A text field: number fields silently drop invalid input, and accept only one locale's notation. */
function OwnNumber({ wanted, value, onInput }: OwnProps & { wanted: NumberWanted }) {
  const hint = useId()
  const { isWhole, minimum, maximum } = wanted
  const isWrong = value.trim() !== '' && readNumber(value, wanted) === undefined
  // The number keypad has no minus on some phones.
  const keys = (minimum ?? -1) < 0 ? 'text' : isWhole ? 'numeric' : 'decimal'
  return (
    <div class="number-w">
      <input
        class="deny-t"
        inputMode={keys}
        autoComplete="off"
        value={value}
        aria-label={words.otherLabel}
        aria-describedby={hint}
        aria-invalid={isWrong}
        onInput={event => onInput(event.currentTarget.value)}
      />
      <small id={hint}>{words.aNumber(isWhole, minimum, maximum)}</small>
    </div>
  )
}

interface OwnProps {
  question: Question
  value: string
  onInput(value: string): void
  hasFocus?: boolean
}
