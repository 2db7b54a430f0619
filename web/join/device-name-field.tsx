import { Field } from '../ui/field.tsx'
import { joining } from '../words/joining.ts'

/** The name under which other devices of the account list this one. */
export function DeviceNameField({ value, onInput }: { value: string; onInput(name: string): void }) {
  return <Field label={joining.create.device} hint={joining.create.deviceHint} value={value} onInput={onInput} maxLength={100} />
}
