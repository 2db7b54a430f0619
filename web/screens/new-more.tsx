import { Switch } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { start as words } from '../words/start.ts'

/** Empty: the agent's own choice. */
export const efforts = ['', 'low', 'medium', 'high'] as const
export type Effort = (typeof efforts)[number]

export interface More {
  model: string
  effort: Effort
  /** Of the copy. */
  base: string
}

/** Whether the session works on a copy, so that what is not committed stays as it is. */
export function WorktreeSwitch({ dirty, isOn, onFlip }: { dirty: number; isOn: boolean; onFlip(): void }) {
  return (
    <div class="card tight">
      <Switch title={words.worktree} text={dirty > 0 ? words.worktreeDirty(dirty) : words.worktreeText} isOn={isOn} onFlip={onFlip} />
    </div>
  )
}

/** What few people change. */
export function MoreChoices({ more, hasCopy, onChange }: { more: More; hasCopy: boolean; onChange(more: More): void }) {
  return (
    <details class="more">
      <summary class="txt">{words.more}</summary>
      <div class="form">
        <Field
          label={words.model}
          hint={words.modelHint}
          value={more.model}
          onInput={model => onChange({ ...more, model })}
          isCode
          maxLength={200}
        />
        <fieldset class="picks">
          <legend>{words.effort}</legend>
          {efforts.map(effort => (
            <label key={effort} class="pick">
              <input type="radio" name="effort" checked={effort === more.effort} onChange={() => onChange({ ...more, effort })} />
              <span>{words.efforts[effort === '' ? 'own' : effort]}</span>
            </label>
          ))}
        </fieldset>
        {hasCopy && (
          <Field
            label={words.base}
            hint={words.baseHint}
            value={more.base}
            onInput={base => onChange({ ...more, base })}
            isCode
            maxLength={200}
          />
        )}
      </div>
    </details>
  )
}
