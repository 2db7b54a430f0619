import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { arriveWith } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { LinkCommand, useProgram } from '../machines/link-command.tsx'
import { Problem } from '../ui/banner.tsx'
import { FlowBar } from '../ui/bar.tsx'
import { feel } from '../ui/behavior/haptics.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { joining } from '../words/joining.ts'
import { type Eye, lookForCodes } from './camera.ts'
import { findLink, type PastedLink } from './pasted-link.ts'

/** Scans the code that a computer shows; its link can be pasted instead. */
export function ScanScreen() {
  const video = useRef<HTMLVideoElement>(null)
  const [eye, setEye] = useState<Eye>('starting')
  const program = useProgram()
  const [note, setNote] = useState<string>()
  const [pasted, setPasted] = useState('')
  const [wrong, setWrong] = useState<string>()

  useEffect(() => {
    if (!video.current) return
    return lookForCodes(video.current, {
      onEye: setEye,
      onText: text => {
        const found = findLink(text)
        if (found.type !== 'link') return setNote(found.type === 'nothing' ? joining.scan.notACode : problemOf(found, program))
        feel('sent')
        arriveWith(found.href)
      }
    })
  }, [])

  const follow = (text: string) => {
    const found = findLink(text)
    if (found.type === 'link') arriveWith(found.href)
    else setWrong(problemOf(found, program))
  }
  const fromClipboard = async () => {
    const text = await navigator.clipboard.readText().catch(() => '')
    setPasted(text)
    if (text.trim() !== '') follow(text)
  }
  return (
    <form
      class="screen flow"
      onSubmit={event => {
        event.preventDefault()
        follow(pasted)
      }}
    >
      <FlowBar back={pathOf({ name: 'home' })} icon="x" />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.scan.title}</h1>
          <p class="lead">{joining.scan.lead}</p>
          <Viewfinder eye={eye} video={video} />
          <p class="hint" role="status">
            {note}
          </p>
          <section class="no-code">
            <h2>{joining.scan.noCode}</h2>
            <LinkCommand />
          </section>
          <Field
            label={joining.scan.paste}
            hint={joining.scan.fieldHint}
            error={wrong}
            value={pasted}
            onInput={text => {
              setWrong(undefined)
              setPasted(text)
            }}
            isCode
          />
        </div>
      </div>
      <footer class="foot">
        {pasted.trim() === '' ? (
          <Button look="quiet" isLarge isWide icon="clipboard-paste" onClick={() => void fromClipboard()}>
            {joining.scan.useClipboard}
          </Button>
        ) : (
          <Button look="primary" type="submit" isLarge isWide>
            {joining.scan.go}
          </Button>
        )}
      </footer>
    </form>
  )
}

function Viewfinder({ eye, video }: { eye: Eye; video: RefObject<HTMLVideoElement | null> }) {
  if (eye === 'denied') return <Problem title={joining.scan.denied} text={joining.scan.deniedText} />
  if (eye === 'none') return <NoCamera />
  return (
    <div class="finder">
      <video ref={video} muted playsInline aria-label={joining.scan.title} />
      {eye === 'starting' && <span role="status">{joining.scan.starting}</span>}
      <svg viewBox="0 0 100 100" aria-hidden="true">
        <path d="M20 36V24a4 4 0 0 1 4-4h12M64 20h12a4 4 0 0 1 4 4v12M80 64v12a4 4 0 0 1-4 4H64M36 80H24a4 4 0 0 1-4-4V64" />
      </svg>
    </div>
  )
}

function NoCamera() {
  return (
    <div class="finder none">
      <Icon name="camera-off" />
      <b>{joining.scan.none}</b>
      <span>{joining.scan.noneText}</span>
    </div>
  )
}

// Checks only the form; the next screen says whether the link is valid.
function problemOf(found: Exclude<PastedLink, { type: 'link' }>, program: string): string {
  switch (found.type) {
    case 'cut':
      return joining.scan.cut
    case 'for-account':
      return joining.scan.forAccount(`${program} login`)
    case 'foreign':
      return joining.scan.foreign(found.host)
    case 'nothing':
      return joining.scan.notALink
  }
}
