import { useState } from 'preact/hooks'
import { noteKeyInFile } from '../model/account/account.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { joining } from '../words/joining.ts'
import { sealKeyFile } from './file.ts'

const shortest = 10
const words = joining.keyFile

/** Saves the key with instructions as a file: encrypted with a passphrase, or in clear if that is left empty and confirmed. */
export function KeyFileSheet({ value, onClose }: { value: string; onClose(): void }) {
  const [passphrase, setPassphrase] = useState('')
  const [again, setAgain] = useState('')
  const [problem, setProblem] = useState<'short' | 'differs' | 'plain' | 'not-sealed'>()
  const { isBusy, run } = useBusy()
  const { fileName, fileText } = joining.key

  const save = (event: Event) => {
    event.preventDefault()
    const text = fileText(value, location.origin)
    if (passphrase === '' && again === '') {
      if (problem !== 'plain') return setProblem('plain')
      download(fileName, text)
      void noteKeyInFile()
      return closeLayer()
    }
    if (passphrase.length < shortest) return setProblem('short')
    if (passphrase !== again) return setProblem('differs')
    void run(async () => {
      setProblem(undefined)
      await afterPaint()
      const sealed = await sealKeyFile(text, passphrase).catch(() => undefined)
      if (sealed === undefined) return setProblem('not-sealed')
      download(fileName.replace(/\.txt$/, '.age'), sealed)
      void noteKeyInFile()
      closeLayer()
    })
  }
  const type = (set: (text: string) => void) => (text: string) => {
    setProblem(undefined)
    set(text)
  }
  return (
    <Sheet title={words.title} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <p class="lead">{words.lead}</p>
        <Field
          label={words.passphrase}
          hint={words.hint}
          error={problem === 'short' ? words.short : undefined}
          value={passphrase}
          onInput={type(setPassphrase)}
          isSecret
          hasFocus
        />
        <Field
          label={words.again}
          error={problem === 'differs' ? words.differs : undefined}
          value={again}
          onInput={type(setAgain)}
          isSecret
        />
        {problem === 'plain' && <Problem title={words.plain} text={words.plainText} />}
        {problem === 'not-sealed' && <Problem title={words.notSealed} text={words.notSealedText} />}
        <Button look={problem === 'plain' ? 'danger' : 'primary'} type="submit" isLarge isWide busy={isBusy && words.sealing}>
          {problem === 'plain' ? words.savePlain : words.save}
        </Button>
      </form>
    </Sheet>
  )
}

/** Encrypting blocks the page for a moment: this lets the progress text appear first. */
export function afterPaint(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
