import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { base64Of } from '../core/base64.ts'
import { goOn } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { KeyFileField, useKeyFile } from '../keys/file-field.tsx'
import { caretAfterGrouping, countLetters, groupTyped, keyLetters } from '../keys/text.ts'
import { guessDeviceName, restoreAccount } from '../model/account/sign-in.ts'
import type { SignInProblem } from '../model/account/sign-in-problem.ts'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { joining } from '../words/joining.ts'
import { DeviceNameField } from './device-name-field.tsx'
import { TooManyTries } from './too-many-tries.tsx'

type Client = typeof import('../model/account/key.ts')

/** Restores an existing account with its key. */
export function RestoreScreen() {
  const { value: client } = useAnswer(() => import('../model/account/key.ts'), [])
  const [text, setText] = useState('')
  const [deviceName, setDeviceName] = useState(guessDeviceName)
  const [problem, setProblem] = useState<SignInProblem>()
  const { isBusy, run } = useBusy()
  const file = useKeyFile(key => setText(groupTyped(key)))
  const reading = client?.readBackupKey(text)

  const submit = (event: Event) => {
    event.preventDefault()
    if (file.isSealed) return void run(file.open)
    if (!reading?.ok) return
    void run(async () => {
      setProblem(undefined)
      const refused = await restoreAccount({
        secret: base64Of(reading.secret),
        deviceName: deviceName.trim() || guessDeviceName()
      })
      if (refused) setProblem(refused)
      else goOn()
    })
  }
  return (
    <form class="screen flow" onSubmit={submit}>
      <FlowBar back={pathOf({ name: 'welcome' })} />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.restore.title}</h1>
          <p class="lead">{joining.restore.lead}</p>
          <KeyField text={text} onText={setText} reading={reading} />
          <KeyFileField file={file} />
          {!file.isSealed && <DeviceNameField value={deviceName} onInput={setDeviceName} />}
          {problem && <ProblemOf problem={problem} />}
        </div>
      </div>
      <footer class="foot">
        {file.isSealed ? (
          <Button look="primary" type="submit" isLarge isWide isOff={file.passphrase === ''} busy={isBusy && joining.keyFile.opening}>
            {joining.keyFile.open}
          </Button>
        ) : (
          <Button look="primary" type="submit" isLarge isWide isOff={!reading?.ok} busy={isBusy && joining.restore.busy}>
            {joining.restore.submit}
          </Button>
        )}
      </footer>
    </form>
  )
}

type Reading = ReturnType<Client['readBackupKey']>

function KeyField({ text, onText, reading }: { text: string; onText(text: string): void; reading: Reading | undefined }) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const caret = useRef<number | undefined>(undefined)
  const note = noteOf(text, reading)

  useLayoutEffect(() => {
    if (caret.current !== undefined) field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [text])
  useEffect(() => field.current?.focus(), [])

  return (
    <div class="fld">
      <label for={id}>{joining.restore.field}</label>
      <textarea
        id={id}
        ref={field}
        class="mono key-field"
        rows={4}
        value={text}
        onInput={event => {
          const { value, selectionStart } = event.currentTarget
          caret.current = caretAfterGrouping(value.slice(0, selectionStart))
          onText(groupTyped(value))
        }}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        aria-invalid={note.isBad}
        aria-describedby={`${id}-note`}
      />
      <small id={`${id}-note`} class={note.isBad ? 'bad' : ''} aria-live="polite">
        {note.text}
      </small>
    </div>
  )
}

// While it is being typed, an incomplete key is not an error.
function noteOf(text: string, reading: Reading | undefined): { text: string; isBad: boolean } {
  const letters = countLetters(text)
  if (!reading || letters === 0) return { text: '', isBad: false }
  if (reading.ok) return { text: joining.restore.complete, isBad: false }
  if (reading.problem === 'impossible-letter') return { text: joining.restore.impossible(reading.group), isBad: true }
  if (letters < keyLetters) return { text: joining.restore.tooShort(keyLetters - letters), isBad: false }
  return { text: joining.restore.tooLong(letters - keyLetters), isBad: true }
}

function ProblemOf({ problem }: { problem: SignInProblem }) {
  switch (problem.type) {
    case 'needs-setup-code':
    case 'needs-invite':
    case 'pending':
    case 'signup-closed':
      return <Problem title={joining.restore.unknown} />
    case 'locked':
      return <TooManyTries nextAt={problem.nextAt} />
    case 'unreachable':
      return <Problem title={joining.create.unreachable} text={joining.restore.nothingChanged} />
    case 'has-account':
      return <Problem title={joining.create.hasAccount} text={joining.create.hasAccountText} />
    case 'other':
      return <Problem title={joining.create.other} text={problem.message} />
  }
}
