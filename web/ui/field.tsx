import { useEffect, useId, useRef } from 'preact/hooks'

/** A labelled text field. `isCode` is for keys and codes: monospaced, and without autocorrection. */
export function Field(props: {
  label: string
  hint?: string
  error?: string | undefined
  value: string
  onInput(value: string): void
  isCode?: boolean
  isDigits?: boolean
  /** Masked, and not stored by the browser. */
  isSecret?: boolean
  hasFocus?: boolean
  maxLength?: number
}) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (props.hasFocus) input.current?.focus()
  }, [props.hasFocus])
  const given = {
    id,
    ref: input,
    class: props.isCode ? 'mono' : '',
    inputMode: props.isDigits ? ('numeric' as const) : undefined,
    value: props.value,
    onInput: (event: { currentTarget: HTMLInputElement }) => props.onInput(event.currentTarget.value),
    maxLength: props.maxLength,
    autocomplete: props.isSecret ? 'new-password' : 'off',
    autocapitalize: props.isCode ? 'none' : 'sentences',
    spellcheck: false,
    'aria-invalid': props.error !== undefined,
    'aria-describedby': `${id}-note`
  } as const
  return (
    <div class="fld">
      <label for={id}>{props.label}</label>
      {props.isSecret ? <input type="password" {...given} /> : <input type="text" {...given} />}
      <small id={`${id}-note`} class={props.error ? 'bad' : ''} aria-live="polite">
        {props.error ?? props.hint}
      </small>
    </div>
  )
}

/** The same with several lines. */
export function TextArea(props: { label: string; hint?: string; value: string; onInput(value: string): void; rows: number }) {
  const id = useId()
  return (
    <div class="fld">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        rows={props.rows}
        dir="auto"
        value={props.value}
        onInput={event => props.onInput(event.currentTarget.value)}
        aria-describedby={`${id}-note`}
      />
      <small id={`${id}-note`}>{props.hint}</small>
    </div>
  )
}
