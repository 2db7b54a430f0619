import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import type { SessionFacts } from '../state/session-facts.ts'
import type { SessionTexts } from '../state/session-texts.ts'
import { session as words } from '../words/session.ts'
import { ModeButton } from './mode-sheet.tsx'

/** Where a person writes. What is written stays on this device until it is sent, also over reloads. */
export function Composer(props: {
  texts: SessionTexts
  facts: SessionFacts
  isWorking: boolean
  /** Messages that were sent while the agent works and that wait for the end of its turn. */
  queued: number
  /** A text to go on with, such as one that could not be delivered; each new value is put in once. */
  offered: { readonly text: string } | undefined
  mode: { onOpen(): void; asking: { readonly code: string; readonly state: 'asking' | 'failed' } | undefined }
  onSent(): void
}) {
  const { texts, facts, isWorking } = props
  const [text, setText] = useState('')
  const [problem, setProblem] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)

  useEffect(() => {
    let isGone = false
    void texts.readDraft().then(draft => {
      if (!isGone && draft !== '') setText(now => (now === '' ? draft : now))
    })
    return () => {
      isGone = true
    }
  }, [texts])
  useEffect(() => {
    if (props.offered === undefined) return
    write(props.offered.text)
    area.current?.focus()
  }, [props.offered])
  useGrowing(area, text)

  const write = (next: string) => {
    setText(next)
    texts.keepDraft(next)
  }
  const send = () => {
    const sent = text.trim()
    if (sent === '') return
    write('')
    setProblem(false)
    props.onSent()
    texts.send(sent).catch(() => {
      // Not kept anywhere: it goes back to where it was written.
      write(sent)
      setProblem(true)
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isPlainEnter = event.key === 'Enter' && !event.shiftKey && !event.altKey && !event.isComposing
    if (isPlainEnter && (isMouseDevice() || event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      send()
    }
  }
  const hint = placeholderOf(facts, isWorking)
  return (
    <form
      class="composer"
      aria-label={words.message}
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      {props.queued > 0 && (
        <p class="queued" role="status">
          <Icon name="list-end" />
          {words.queued(props.queued)}
        </p>
      )}
      {problem && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{words.notKept}</span>
        </p>
      )}
      <div class="cbox">
        <textarea
          ref={area}
          rows={1}
          dir="auto"
          value={text}
          placeholder={hint}
          aria-label={hint}
          enterkeyhint={isMouseDevice() ? 'send' : 'enter'}
          onInput={event => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <div class="ctools">
          <ModeButton facts={facts} {...props.mode} />
          <span class="sp" />
          <button
            class="send"
            type="submit"
            aria-label={isWorking ? words.queue : words.send}
            aria-disabled={text.trim() === '' ? true : undefined}
          >
            <Icon name={isWorking ? 'list-end' : 'arrow-up'} />
          </button>
        </div>
      </div>
    </form>
  )
}

const mostRows = 8

// As high as its text, up to eight lines. `field-sizing` does it where the browser knows it; this is for the others.
function useGrowing(area: { current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const element = area.current
    if (element === null || CSS.supports('field-sizing', 'content')) return
    element.rows = 1
    const line = Number.parseFloat(getComputedStyle(element).lineHeight)
    element.rows = Math.min(mostRows, Math.max(1, Math.round((element.scrollHeight - 14) / line)))
  }, [text])
}

function isMouseDevice(): boolean {
  return matchMedia('(hover: hover) and (pointer: fine)').matches
}

function placeholderOf(facts: SessionFacts, isWorking: boolean): string {
  if (facts.canResume) return words.placeholder.resumes
  if (facts.presence === 'away') return words.placeholder.away(facts.host)
  if (facts.presence === 'ended') return words.placeholder.quiet
  return isWorking ? words.placeholder.working : words.placeholder.idle(facts.agentShort)
}
