import { useState } from 'preact/hooks'
import type { Choice } from '../../lib/protocol/sealed/session.ts'
import { Field } from '../ui/field.tsx'
import { Pick } from '../ui/select.tsx'
import { visible } from '../ui/visible-text.ts'
import { start as words } from '../words/start.ts'

/** The model to start with; empty for the agent's default. A select if the agent reported its models; any other can be typed. */
export function ModelChoice({ models, value, onInput }: { models: readonly Choice[]; value: string; onInput(model: string): void }) {
  const [isOther, setOther] = useState(false)
  const named = <Field label={words.model} hint={words.modelHint} value={value} onInput={onInput} isCode maxLength={200} />
  if (models.length === 0) return named
  const isUnnamed = isOther || (value !== '' && !models.some(({ code }) => code === value))
  const choose = (picked: string) => {
    setOther(picked === other)
    onInput(picked === other ? '' : picked)
  }
  return (
    <>
      <Pick
        label={words.model}
        value={isUnnamed ? other : value}
        options={[
          ['', words.modelOwn],
          ...models.map(({ code, value: title }) => [code, visible(title)] as const),
          [other, words.modelOther]
        ]}
        onChange={choose}
      />
      {isUnnamed && <Field label={words.modelName} hint={words.modelHint} value={value} onInput={onInput} isCode maxLength={200} />}
    </>
  )
}

// No model name contains a line break.
const other = '\n'
