import { useRef } from 'preact/hooks'
import type { Choice } from '../../lib/protocol/sealed/session.ts'
import { type Picked, readPicked } from '../model/session/picked-file.ts'
import { Button } from '../ui/button.tsx'
import { Switch } from '../ui/choice.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { toast } from '../ui/toast.ts'
import { compose } from '../words/compose.ts'
import { bytes } from '../words/size.ts'
import { start as words } from '../words/start.ts'
import { ModelChoice } from './model.tsx'

/** Empty: the agent's default. */
export const efforts = ['', 'low', 'medium', 'high'] as const
type Effort = (typeof efforts)[number]

export interface MoreOptions {
  model: string
  effort: Effort
  /** The branch that the copy is based on. */
  base: string
}

/** Whether the session works on a copy, so that uncommitted changes stay untouched. */
export function WorktreeSwitch({ dirty, isOn, onFlip }: { dirty: number; isOn: boolean; onFlip(): void }) {
  return (
    <div class="card tight">
      <Switch title={words.worktree} text={dirty > 0 ? words.worktreeDirty(dirty) : words.worktreeText} isOn={isOn} onFlip={onFlip} />
    </div>
  )
}

/** Rarely changed options. */
export function MoreChoices(props: {
  more: MoreOptions
  models: readonly Choice[]
  hasCopy: boolean
  onChange(more: MoreOptions): void
  files: FirstFiles
}) {
  const { more, models, hasCopy, onChange, files } = props
  return (
    <details class="more" open={files.chosen.length > 0 || undefined}>
      <summary class="txt">{words.more}</summary>
      <div class="form">
        <Files files={files} />
        <ModelChoice models={models} value={more.model} onInput={model => onChange({ ...more, model })} />
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

/** Files sent with the first message. */
export interface FirstFiles {
  readonly chosen: readonly Picked[]
  onChange(change: (before: readonly Picked[]) => readonly Picked[]): void
}

function Files({ files: { chosen, onChange } }: { files: FirstFiles }) {
  const input = useRef<HTMLInputElement>(null)
  const take = async (files: readonly File[]) => {
    for (const file of files) {
      const picked = await readPicked(file)
      if (typeof picked === 'string') toast(compose.unfit[picked](file.name))
      else onChange(before => [...before, picked])
    }
  }
  return (
    <section class="form">
      {chosen.length > 0 && (
        <ul class="att-row" aria-label={compose.attached}>
          {chosen.map(file => (
            <li key={`${file.name} ${file.bytes.length}`} class="att-chip">
              <Icon name={file.image ? 'image' : 'file-text'} />
              <span>
                <bdi>{file.name}</bdi>
                <small>{bytes(file.bytes.length)}</small>
              </span>
              <button
                class="ib"
                type="button"
                aria-label={compose.remove(file.name)}
                onClick={() => onChange(before => before.filter(each => each !== file))}
              >
                <Icon name="x" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          void take([...(currentTarget.files ?? [])])
          // So that the same file can be chosen again.
          currentTarget.value = ''
        }}
      />
      <Button look="quiet" icon="paperclip" onClick={() => input.current?.click()}>
        {words.firstFiles}
      </Button>
    </section>
  )
}
