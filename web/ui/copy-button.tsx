import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../words/app.ts'
import { putOnClipboard } from './copy.ts'
import { Icon } from './icons/icon.tsx'

/** Copies, and confirms it on the button for two seconds; says so if the browser denies it. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isDone, setDone] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    if (!(await putOnClipboard(text))) return
    setDone(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setDone(false), 2_000)
  }
  return (
    <button
      class={`copy ${isDone ? 'done' : ''}`}
      type="button"
      aria-label={isDone ? words.copied : words.copyThe(what)}
      onClick={() => void copy()}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
    </button>
  )
}
