import { useRef, useState } from 'preact/hooks'
import { Problem } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { joining } from '../words/joining.ts'
import { lookAtKeyFile, openKeyFile } from './file.ts'
import { afterPaint } from './file-sheet.tsx'

const words = joining.keyFile

/** A key file chosen to restore from. */
interface ChosenKeyFile {
  /** The file needs its passphrase. */
  readonly isSealed: boolean
  choose(file: File): Promise<void>
  /** Called with the key, once the passphrase is right. */
  open(): Promise<void>
  readonly passphrase: string
  setPassphrase(text: string): void
  readonly problem: 'wrong' | 'other' | undefined
}

export function useKeyFile(onKey: (key: string) => void): ChosenKeyFile {
  const [sealed, setSealed] = useState<Uint8Array>()
  const [passphrase, setPassphrase] = useState('')
  const [problem, setProblem] = useState<'wrong' | 'other'>()
  const take = (key: string) => {
    setSealed(undefined)
    setPassphrase('')
    onKey(key)
  }
  return {
    isSealed: sealed !== undefined,
    passphrase,
    problem,
    setPassphrase(text) {
      setProblem(undefined)
      setPassphrase(text)
    },
    async choose(file) {
      // No key file is larger; a file that has been moved meanwhile cannot be read.
      const bytes = file.size > 100_000 ? undefined : await file.arrayBuffer().catch(() => undefined)
      const seen = bytes && (await lookAtKeyFile(new Uint8Array(bytes)))
      setProblem(!seen || seen.type === 'other' ? 'other' : undefined)
      setSealed(seen?.type === 'sealed' ? seen.sealed : undefined)
      if (seen?.type === 'key') take(seen.key)
    },
    async open() {
      if (!sealed) return
      setProblem(undefined)
      await afterPaint()
      const opened = await openKeyFile(sealed, passphrase)
      if (typeof opened === 'object') return take(opened.key)
      setProblem(opened)
      if (opened === 'other') setSealed(undefined)
    }
  }
}

/** `isMain`: it is the only action on the screen. */
export function KeyFileField({ file, isMain = false }: { file: ChosenKeyFile; isMain?: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".age,.txt,text/plain"
        onChange={event => {
          const [chosen] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          if (chosen) void file.choose(chosen)
        }}
      />
      {file.isSealed && (
        <Field
          label={words.passphrase}
          hint={words.sealed}
          error={file.problem === 'wrong' ? words.wrong : undefined}
          value={file.passphrase}
          onInput={file.setPassphrase}
          isSecret
          hasFocus
        />
      )}
      {file.problem === 'other' && <Problem title={words.other} />}
      <Button look={isMain ? 'primary' : 'quiet'} icon="file-text" isLarge={isMain} isWide={isMain} onClick={() => input.current?.click()}>
        {file.isSealed ? words.another : words.choose}
      </Button>
    </>
  )
}
