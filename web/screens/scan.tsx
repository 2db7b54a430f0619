import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Problem } from '../parts/banner.tsx'
import { FlowBar } from '../parts/bar.tsx'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { arriveWith } from '../router.ts'
import { type Eye, lookForCodes } from '../state/camera.ts'
import { feel } from '../state/haptics.ts'
import { joining } from '../words/joining.ts'

/** Points the camera at the code a computer shows; pasting its link always works too. */
export function ScanScreen() {
  const video = useRef<HTMLVideoElement>(null)
  const [eye, setEye] = useState<Eye>('starting')
  const [note, setNote] = useState<string>()
  const [pasted, setPasted] = useState('')
  const [isWrong, setWrong] = useState(false)

  useEffect(() => {
    if (!video.current) return
    return lookForCodes(video.current, {
      onEye: setEye,
      onText: text => {
        if (!isLink(text)) return setNote(joining.scan.notACode)
        feel('sent')
        arriveWith(text)
      }
    })
  }, [])

  const follow = (text: string) => {
    if (isLink(text)) arriveWith(text.trim())
    else setWrong(true)
  }
  const fromClipboard = async () => {
    const text = await navigator.clipboard.readText().catch(() => '')
    setPasted(text)
    if (isLink(text)) follow(text)
  }
  return (
    <form
      class="screen flow"
      onSubmit={event => {
        event.preventDefault()
        follow(pasted)
      }}
    >
      <FlowBar back={{ name: 'home' }} icon="x" />
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{joining.scan.title}</h1>
          <p class="lead">{joining.scan.lead}</p>
          <Viewfinder eye={eye} video={video} />
          <p class="hint" role="status">
            {note}
          </p>
          <Field
            label={joining.scan.paste}
            hint={joining.scan.fieldHint}
            error={isWrong ? joining.scan.notALink : undefined}
            value={pasted}
            onInput={text => {
              setWrong(false)
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

// Only what it looks like; whether it is a link that leads somewhere is said on the next screen.
function isLink(text: string): boolean {
  return /^\s*(https?:\/\/\S+#\S+|happy:\/\/\S+)\s*$/i.test(text)
}
