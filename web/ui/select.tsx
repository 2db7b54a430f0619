import { useId } from 'preact/hooks'

/** A labelled list to choose one of many options from. */
export function Pick(props: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  onChange(value: string): void
}) {
  const id = useId()
  return (
    <div class="fld">
      <label for={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={event => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}
